! SPDX-License-Identifier: MIT
! MPI by Fortran's names, in threads of Weft that calls_fortran.cpp starts.
subroutine receive_from_self() bind(c)
  use mpi
  implicit none
  integer :: got, ierror, status(MPI_STATUS_SIZE)
  got = -1
  call MPI_RECV(got, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, status, ierror)
  if (ierror /= MPI_SUCCESS .or. got /= 42 .or. status(MPI_TAG) /= 7) call MPI_ABORT(MPI_COMM_WORLD, 3, ierror)
end subroutine

subroutine send_to_self() bind(c)
  use mpi
  implicit none
  integer :: ierror
  call MPI_SSEND(42, 1, MPI_INTEGER, 0, 7, MPI_COMM_SELF, ierror)
end subroutine

! Point to point, requests and a collective call, in the communicator of the thread.
subroutine exchange(i, communicator) bind(c)
  use mpi
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(c_int), value :: i, communicator
  integer :: me, ierror, round, requests(2), sent, got, total
  call MPI_COMM_RANK(communicator, me, ierror)
  do round = 1, 10
    sent = 1000 * me + 10 * i + round
    call MPI_IRECV(got, 1, MPI_INTEGER, 1 - me, i, communicator, requests(1), ierror)
    call MPI_ISEND(sent, 1, MPI_INTEGER, 1 - me, i, communicator, requests(2), ierror)
    call MPI_WAITALL(2, requests, MPI_STATUSES_IGNORE, ierror)
    if (got /= 1000 * (1 - me) + 10 * i + round) call MPI_ABORT(MPI_COMM_WORLD, 3, ierror)
    call MPI_ALLREDUCE(sent, total, 1, MPI_INTEGER, MPI_SUM, communicator, ierror)
    if (total /= sent + got) call MPI_ABORT(MPI_COMM_WORLD, 4, ierror)
    call MPI_BARRIER(communicator, ierror)
  end do
end subroutine

! The same by the module of Fortran 2008.
subroutine exchange_2008(i, communicator) bind(c)
  use mpi_f08
  use, intrinsic :: iso_c_binding, only: c_int
  implicit none
  integer(c_int), value :: i, communicator
  type(MPI_Comm) :: c
  type(MPI_Status) :: status
  integer :: me, sent, got
  c%mpi_val = communicator
  call MPI_Comm_rank(c, me)
  sent = me + i
  if (me == 0) then
    call MPI_Send(sent, 1, MPI_INTEGER, 1, i, c)
    call MPI_Recv(got, 1, MPI_INTEGER, 1, i, c, status)
  else
    call MPI_Recv(got, 1, MPI_INTEGER, 0, i, c, status)
    call MPI_Ssend(sent, 1, MPI_INTEGER, 0, i, c)
  end if
  if (got /= 1 - me + i .or. status%MPI_SOURCE /= 1 - me) call MPI_Abort(MPI_COMM_WORLD, 5)
end subroutine

! As a kernel thread, or a thread of Weft: what main() calls.
subroutine begin() bind(c)
  use mpi
  implicit none
  integer :: provided, ierror
  call MPI_INIT_THREAD(MPI_THREAD_MULTIPLE, provided, ierror)
end subroutine

subroutine finish() bind(c)
  use mpi
  implicit none
  integer :: ierror
  call MPI_BARRIER(MPI_COMM_WORLD, ierror)
  call MPI_FINALIZE(ierror)
end subroutine
