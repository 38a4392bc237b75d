# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# For ./do: what a newcomer sees. A root folder of a fresh Debian is made by mmdebstrap, the last commit is cloned into it,
# and ./do runs there as on a new machine. Needs to be root, or sudo.

# in_root ROOT COMMAND...: with /proc, /dev and /sys of its own, which go with the last process.
in_root() {
  local root=$1
  shift
  # shellcheck disable=SC2016  # for the shell inside
  as_root unshare --mount --pid --fork sh -c '
    root=$1
    shift
    mount --make-rprivate / && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev" &&
      mount -t sysfs -o ro sysfs "$root/sys" && exec chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
      LANG=C.UTF-8 "$@"' sh "$root" "$@"
}

try_one() { # suite
  local suite=$1 root=$PWD/build/roots/$1
  if [ ! -d "$root/usr" ]; then
    say "$suite: making a root"
    mkdir -p build/roots
    as_root mmdebstrap --quiet --variant=minbase --include=ca-certificates,git "$suite" "$root" >"$LOGS/root-$suite" 2>&1 ||
      { as_root rm -rf "$root"; cat "$LOGS/root-$suite" >&2; return 1; }
  fi
  as_root cp /etc/resolv.conf "$root/etc/resolv.conf"
  as_root rm -rf "$root/root/weft"
  as_root git clone --quiet --no-hardlinks . "$root/root/weft"
  say "$suite: ./do demo --quick"
  in_root "$root" sh -c 'cd /root/weft && ./do demo --quick' || return 1
  say "$suite: ./do test --quick"
  in_root "$root" sh -c 'cd /root/weft && ./do test --quick' || return 1
}

verb_try() {
  local suite failed=""
  need_for try
  if [ $# = 0 ]; then set -- trixie; fi
  for suite in "$@"; do
    try_one "$suite" || failed+=" $suite"
  done
  if [ -n "$failed" ]; then say "failed on:$failed"; exit 1; fi
}
