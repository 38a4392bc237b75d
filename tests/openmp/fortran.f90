! SPDX-License-Identifier: MIT
! Fortran's spellings: what is passed by address, and what omp_lib passes by value. Stops with the number of the
! first thing that is wrong.
program fortran
  use omp_lib
  use iso_fortran_env, only: int64
  implicit none
  integer, save :: mine = 0
  !$omp threadprivate(mine)
  integer :: threads

  threads = 4
  call omp_set_num_threads(threads)
  call settings()
  call loops()
  call locks()
  call events()
  call optional_arguments()
  call affinities()
  print '(a)', 'right'

contains

  subroutine settings()
    integer(omp_sched_kind) :: kind
    integer :: chunk
    if (omp_get_max_threads() /= threads .or. omp_in_parallel() .or. omp_get_level() /= 0) stop 1
    call omp_set_dynamic(.false.)
    if (omp_get_dynamic()) stop 2
    call omp_set_max_active_levels(3)
    if (omp_get_max_active_levels() /= 3) stop 3
    call omp_set_schedule(omp_sched_guided, 7)
    call omp_get_schedule(kind, chunk)
    if (kind /= omp_sched_guided .or. chunk /= 7) stop 4
    if (omp_get_wtime() <= 0 .or. omp_get_wtick() <= 0) stop 5
  end subroutine settings

  subroutine loops()
    integer :: i, total, seen(0:7)
    total = 0
    seen = 0
    !$omp parallel num_threads(threads) copyin(mine)
    mine = omp_get_thread_num()
    !$omp do schedule(runtime) reduction(+:total)
    do i = 1, 1000
      total = total + i
    end do
    !$omp do ordered
    do i = 1, 20
      !$omp ordered
      if (i > 1) seen(7) = i
      !$omp end ordered
    end do
    !$omp barrier
    seen(mine) = seen(mine) + 1
    !$omp end parallel
    if (total /= 500500 .or. any(seen(0:threads - 1) /= 1) .or. seen(7) /= 20) stop 11
    !$omp parallel num_threads(threads)
    if (mine /= omp_get_thread_num()) stop 12
    !$omp end parallel
  end subroutine loops

  subroutine locks()
    integer(omp_lock_kind) :: lock
    integer(omp_nest_lock_kind) :: nest
    integer :: count
    count = 0
    call omp_init_lock(lock)
    call omp_init_nest_lock(nest)
    !$omp parallel num_threads(threads)
    call omp_set_lock(lock)
    count = count + 1
    call omp_unset_lock(lock)
    call omp_set_nest_lock(nest)
    if (omp_test_nest_lock(nest) /= 2) stop 21
    count = count + 1
    call omp_unset_nest_lock(nest)
    call omp_unset_nest_lock(nest)
    !$omp end parallel
    call omp_destroy_lock(lock)
    call omp_destroy_nest_lock(nest)
    if (count /= 2 * threads) stop 22
  end subroutine locks

  ! An event's handle is passed by value.
  subroutine events()
    integer(omp_event_handle_kind) :: event
    integer :: x
    x = 0
    !$omp parallel num_threads(threads) shared(x)
    !$omp single
    !$omp task detach(event) depend(out: x)
    !$omp end task
    !$omp task depend(in: x)
    x = 1
    !$omp end task
    if (x /= 0) stop 31
    call omp_fulfill_event(event)
    !$omp taskwait
    if (x /= 1) stop 32
    !$omp end single
    !$omp end parallel
  end subroutine events

  ! One that is not given has no address.
  subroutine optional_arguments()
    integer :: x(3)
    x = 5
    call add_to()
    call add_to(x)
    if (any(x /= 6)) stop 41
  end subroutine optional_arguments

  subroutine add_to(a)
    integer, optional :: a(3)
    !$omp target data map(a) use_device_addr(a)
    !$omp target has_device_addr(a)
    if (present(a)) a = a + 1
    !$omp end target
    !$omp end target data
  end subroutine add_to

  subroutine affinities()
    character(len=20) :: text
    integer :: size
    call omp_set_affinity_format('thread %n of %N')
    size = omp_get_affinity_format(text)
    if (size /= 15 .or. text /= 'thread %n of %N') stop 51
    size = omp_capture_affinity(text, '%n/%N')
    if (size /= 3 .or. text /= '0/1') stop 52
  end subroutine affinities
end program fortran
