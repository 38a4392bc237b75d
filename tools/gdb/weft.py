# SPDX-License-Identifier: MIT
"""gdb commands for programs that use Weft: the threads, their calls, what they wait for.

source this file, or let gdb find it beside libweft.so (docs/guide/debugging.md). Needs no debug information of
Weft: all is read by the table weft_debug_layout (docs/design/inspection.md), live or from a core. The walk is that
of tools/weft/units.cpp and waits.cpp.
"""
import bisect
import os
import struct
import time

import gdb
import gdb.unwinder

KNOWN_VERSION = 1
# gdb's names of the stack pointer, the frame pointer and the program counter.
REGISTERS = {'i386:x86-64': ('rsp', 'rbp', 'rip'), 'aarch64': ('sp', 'x29', 'pc'),
             'powerpc:common64': ('r1', 'r31', 'pc'), 'riscv:rv64': ('sp', 'fp', 'pc')}
WORD = 8


def read(at, size):
    return bytes(gdb.selected_inferior().read_memory(at, size))


def number(at, size=WORD):
    """The number at an address; None if there is no memory."""
    try:
        return int.from_bytes(read(at, size), 'little')
    except gdb.MemoryError:
        return None


def text(at, most):
    """Up to the first zero byte."""
    found = b''
    while len(found) < most:
        size = 64 - (at + len(found)) % 64  # what follows may not be there
        try:
            chunk = read(at + len(found), size)
        except gdb.MemoryError:
            break
        found += chunk.split(b'\0')[0]
        if b'\0' in chunk:
            break
    return found[:most].decode(errors='replace')


def symbol_at(at):
    return gdb.execute(f'info symbol {at:#x}', to_string=True).split(' in section')[0].strip()


def first_argument(text):
    """The first argument of a template, of which "name<" has been cut off."""
    depth = 0
    for i, c in enumerate(text):
        if c in ',>' and depth == 0:
            return text[:i]
        depth += (c in '<({') - (c in '>)}')
    return text


def live_process():
    """The id of the process, if it runs here; None: a core, or one that is elsewhere."""
    inferior = gdb.selected_inferior()
    kind = getattr(getattr(inferior, 'connection', None), 'type', '')
    return inferior.pid if kind == 'native' else None


class Layout:
    """The table of the program: offsets, numbers, roots."""

    def __init__(self):
        try:
            at = int(gdb.parse_and_eval('(unsigned long)&weft_debug_layout'))
        except gdb.error:
            raise gdb.GdbError('no Weft in this program, or its symbols were stripped (weft_debug_layout)') from None
        self.entries, self.names = {}, {}
        entry = struct.Struct('<32sQQ')
        for _ in range(1000):
            name, value, address = entry.unpack(read(at, entry.size))
            name = name.split(b'\0')[0].decode()
            if not name:
                break
            self.entries[name] = (value, address)
            group, colon, rest = name.partition(':')
            if colon:
                self.names[group, value] = rest
            at += entry.size
        if self['version'] != KNOWN_VERSION:
            raise gdb.GdbError(f'this file knows version {KNOWN_VERSION} of Weft\'s tables, not {self["version"]}')

    def __getitem__(self, name):
        return self.entries[name][0]

    def root(self, name):
        return number(self.entries[name][1]) or 0

    def field(self, at, name, size=WORD):
        return (number(at + self[name], size) if at else 0) or 0

    def list(self, first, next_field):
        """What is linked by a field; a list that is bent into a circle ends where it began to repeat."""
        found = {}
        while first and first not in found:
            found[first] = True
            first = self.field(first, next_field)
        return list(found)


class Worker:
    def __init__(self, layout, at):
        self.number = layout.field(at, 'worker.number', 4)
        self.kernel_thread = layout.field(at, 'worker.kernel_thread', 4)
        self.asleep = layout.field(at, 'worker.sleeps_until') != 0
        self.pools = (layout.field(at, 'worker.main_pool'), at + layout['worker.local'])
        current = layout.field(at, 'worker.current')
        self.current = 0 if current == at + layout['worker.loop_unit'] else current


class Unit:
    """A thread, tasklet or pushed scheduler; `waits`, `on` and `owner` are filled by Program."""

    def __init__(self, layout, at, data, workers, primary):
        def field(name, size=WORD):
            return int.from_bytes(data[layout[name]:layout[name] + size], 'little')

        traits = field('unit.traits')
        self.at, self.number = at, 0
        self.kind = next((k for k in ('thread', 'tasklet', 'scheduler')
                          if traits & layout['trait.kind_mask'] == layout['kind.' + k]), None)
        self.embedded = traits & layout['trait.embedded'] != 0
        self.state = layout.names.get(('state', field('unit.state', 1)), '?')
        mask = layout['trait.technique_mask']
        self.technique = layout.names.get(('technique', (traits & mask) // (mask & -mask)), '?')
        self.own_pool, self.join, self.operations = field('unit.own_pool'), field('unit.join'), field('unit.operations')
        self.last_worker = field('unit.last_worker', 4) - 1
        self.name = 'main' if at == primary else ''
        if traits & layout['trait.extended'] and field('unit.extension'):
            self.name = text(field('unit.extension') + layout['extension.name'],
                             layout['extension.name_size']) or self.name
        self.stack = field('unit.stack')
        self.low = layout.field(self.stack, 'stack.low')
        self.top = self.low + layout.field(self.stack, 'stack.nominal') if at == primary else self.stack
        self.owns_stack = layout.field(self.stack, 'stack.owner') == at
        self.worker = next((w for w in workers if w.current == at), None)
        if self.worker:
            self.state = 'running'
        elif self.state == 'running' and traits & layout['trait.away']:
            self.state = 'away'
        if self.state == 'blocked' and traits & layout['trait.suspended']:
            self.state = 'suspended'
        self.context = tuple(field('context.' + r) for r in ('sp', 'fp', 'resume'))
        self.has_context = (layout['context.walkable'] != 0 and self.stack != 0 and
                            self.low <= self.context[0] <= self.top and
                            self.state in ('blocked', 'suspended', 'ready', 'posted'))
        self.kind_of_wait, self.displaced, self.object = '', 0, 0
        record, inverse = field('unit.link'), int.from_bytes(
            data[layout['unit.link'] + WORD:layout['unit.link'] + 2 * WORD], 'little')
        if self.state == 'blocked' and record == inverse ^ (2 ** 64 - 1) and number(record) is not None:
            self.kind_of_wait = layout.names.get(('wait', layout.field(record, 'wait.kind', 4)), '?')
            self.displaced = layout.field(record, 'wait.displaced', 4)
            self.object = layout.field(record, 'wait.object')
        self.waits, self.on, self.owner, self.hosts, self.function = '', None, '', False, ''

    def title(self):
        if self.name:
            return f'#{self.number} "{self.name}"'
        function = self.function if len(self.function) <= 40 else self.function[:37] + '...'
        return f'#{self.number}' + (f' ({function})' if function not in ('', '-') else '')

    def where(self, workers):
        if self.worker:
            return f'on {self.worker.number}'
        if self.state not in ('ready', 'posted', 'fresh'):
            return f'was {self.last_worker}' if self.last_worker >= 0 else '-'
        owner = next((w for w in workers if self.own_pool in w.pools), None)
        return f'pool {owner.number}' if owner else 'pool'


class Program:
    """All workers and units, as they are now."""

    def __init__(self):
        self.layout = layout = Layout()
        self.units, self.by_address = [], {}
        workers = layout.list(layout.root('root.workers'), 'worker.next')
        if not workers:
            raise gdb.GdbError('Weft has not been used in this program yet, or has been stopped: no workers')
        self.workers = [Worker(layout, w) for w in workers if not layout.field(w, 'worker.ended', 1)]
        self.workers.sort(key=lambda w: w.number)
        self.primary = layout.root('root.primary')
        self.add(self.primary)
        self.read_slabs()
        for w in self.workers:
            self.add(w.current)
        self.read_stacks()
        accounted = {u.join for u in self.units}  # known to wait for an end
        accounted |= {layout.field(u.stack, 'stack.owner') for u in self.units if u.stack and not u.owns_stack}
        for u in list(self.units):
            self.look_for_hosted(u, accounted)
        self.index_stacks()
        for u in self.units:
            self.explain(u)
        self.find_joins()
        self.find_hosts()

    # --- the walk ---

    def add(self, at, data=None):
        if not at or at in self.by_address:
            return
        try:
            data = data or read(at, self.layout['unit.size'])
        except gdb.MemoryError:
            return
        u = Unit(self.layout, at, data, self.workers, self.primary)
        if u.kind:
            self.units.append(u)
            self.by_address[at] = u
            u.number = len(self.units)
            u.function = self.function(u)

    def read_slabs(self):
        field, layout = self.layout.field, self.layout
        depot, free, slabs = layout.root('root.descriptors'), set(), []
        link = field(depot, 'depot.link')

        def collect(at):
            while at and at not in free:
                free.add(at)
                at = number(at + link)

        for cache in layout.list(field(depot, 'depot.caches'), 'cache.next'):
            collect(field(cache, 'cache.free'))
        for estate in layout.list(field(depot, 'depot.estates'), 'estate.next'):
            collect(field(estate, 'estate.remote'))
            collect(field(estate, 'estate.orphans'))
            slabs += layout.list(field(estate, 'estate.slabs'), 'slab.next')
        first, size = field(depot, 'depot.first'), layout['unit.size']
        for slab in sorted(slabs):
            try:
                used = first + int.from_bytes(read(slab + layout['slab.carved'], 4), 'little') * size
                data = read(slab, used)
            except gdb.MemoryError:
                print(f'warning: the units at {slab:#x} cannot be read; a core that gdb has written lacks them')
                continue
            for at in range(first, used, size):
                if slab + at not in free:
                    self.add(slab + at, data[at:at + size])

    def read_stacks(self):
        """Forked calls that run, or ran, on stacks of their own: their descriptors are in no slab."""
        field, layout = self.layout.field, self.layout
        for slab in layout.list(field(layout.root('root.stacks'), 'stacks.slabs'), 'stack_slab.next'):
            base, stride = field(slab, 'stack_slab.base'), field(slab, 'stack_slab.stride')
            for i in range(field(slab, 'stack_slab.capacity', 4)):
                stored = number(slab + layout['stack_slab.stored'] + i // 64 * 8)
                if stored is None or stored >> i % 64 & 1:
                    continue
                record = (base + (i + 1) * stride - layout['stack.size'] -
                          i % layout['stack_slab.colours'] * layout['stack_slab.colour_size'])
                owner = field(record, 'stack.owner')
                if owner and owner % layout['unit.align'] == 0 and field(owner, 'unit.stack') == record:
                    self.add(owner)

    def look_for_hosted(self, u, accounted):
        """A forked call that waits on its joiner's stack, where its descriptor is too."""
        unexplained = u.state == 'blocked' and not u.kind_of_wait and u.at not in accounted
        if u.worker or not u.stack or (u.state != 'running' and not unexplained):
            return
        layout, page = self.layout, 4096
        size, align = layout['unit.size'], layout['unit.align']
        for at in range(max(u.low, u.top - (256 << 10)) // page * page, u.top - size, page):
            try:
                data = read(at, min(page + size, u.top - at))
            except gdb.MemoryError:
                continue
            for i in range(0, len(data) - size + 1, align):
                if int.from_bytes(data[i + layout['unit.stack']:][:WORD], 'little') != u.stack:
                    continue
                found = Unit(layout, at + i, data[i:i + size], self.workers, self.primary)
                if found.embedded and found.state == 'blocked':
                    self.add(at + i, data[i:i + size])

    # --- who waits for whom ---

    def explain(self, u):
        u.waits = {'suspended': 'resume()', 'blocked': '?'}.get(u.state, '')
        if not u.kind_of_wait:
            return
        u.waits = u.kind_of_wait
        if u.kind_of_wait == 'end of':
            u.on = self.by_address.get(u.object)
            u.waits += ' ' + (u.on.title() if u.on else hex(u.object))
        elif u.kind_of_wait == 'sleep':
            u.waits += self.until(u.object)
        elif u.kind_of_wait == 'I/O':
            u.waits = self.call(u.object)
        elif u.kind_of_wait == 'messages':
            u.waits = self.message_call(u.object)
        elif u.object:
            u.waits += f' {u.object:#x}'
        shared = u.kind_of_wait.startswith('shared mutex')
        if shared or u.kind_of_wait in ('mutex', 'MCS mutex'):
            if u.object not in self.owners:
                self.owners[u.object] = self.follow_marks(u.object)
            u.on, u.owner = self.owners[u.object]
            if shared and u.owner == 'nobody':
                u.owner = 'readers, or nobody'

    def until(self, at):
        if at >= 2 ** 63 - 1:
            return ''
        if live_process() is None:
            return f' until {at / 1e9:.1f} s of CLOCK_MONOTONIC'
        return f', {max(at / 1e9 - time.clock_gettime(time.CLOCK_MONOTONIC), 0):.1f} s more'

    def call(self, record):
        """A call of weft::io, from its unit::io_wait."""
        layout, process = self.layout, live_process()
        descriptor = layout.field(record, 'io.descriptor', 4)
        since = layout.field(record, 'io.since') / 1e9
        said = f'{layout.names.get(("call", layout.field(record, "io.call", 4)), "?")} of {descriptor}'
        if process is None:
            return f'{said} since {since:.1f} s of CLOCK_MONOTONIC'
        try:
            said += f' ({os.readlink(f"/proc/{process}/fd/{descriptor}")})'
        except OSError:
            pass
        return f'{said}, for {max(time.clock_gettime(time.CLOCK_MONOTONIC) - since, 0):.1f} s'

    def message_call(self, record):
        """A call of a message library's, from its unit::message_wait."""
        layout = self.layout
        where, peer, tag, requests = (layout.field(record, f'message.{f}', 4) for f in ('where', 'peer', 'tag', 'requests'))
        call = text(layout.field(record, 'message.call'), 64)
        if requests:
            return f'{call}, {requests} request{"s" if requests != 1 else ""}'
        way = {layout['message.from']: 'from', layout['message.to']: 'to'}.get(where)
        if way is None:
            return call
        peer, tag = ('any' if n == layout['message.any'] else n - (n >> 31 << 32) for n in (peer, tag))
        return f'{call} {way} {peer}, tag {tag}'

    def find_joins(self):
        for u in self.units:
            joiner = self.by_address.get(u.join) if u.join % 2 == 0 else None
            if joiner and not joiner.worker and not joiner.kind_of_wait:
                joiner.waits, joiner.on = 'end of ' + u.title(), u

    def find_hosts(self):
        """Units that share a stack: all but the innermost wait for that one."""
        sharing = {}
        for u in self.units:
            if u.stack:
                sharing.setdefault(u.stack, []).append(u)
        for members in sharing.values():
            def rank(u):
                return 2 if u.worker else 1 if u.kind_of_wait or u.state == 'suspended' or u.on else 0
            inner = max(members, key=rank)
            for u in members:
                if u is inner:
                    continue
                u.has_context = False  # it is out of date: the frames are behind those of the innermost
                u.hosts = True
                if not u.on:
                    u.waits, u.on = f'end of {inner.title()}, on its own stack', inner

    def index_stacks(self):
        outermost = {}  # of those who share a stack
        for u in self.units:
            if u.stack and u.state != 'finished' and (u.stack not in outermost or u.owns_stack):
                outermost[u.stack] = u
        self.stacks = sorted(((u.low % 2 ** 32, u.top - u.low, u) for u in outermost.values()), key=lambda s: s[0])
        self.lows = [low for low, _, _ in self.stacks]
        self.largest_stack = max((size for _, size, _ in self.stacks), default=0)
        self.on_mutexes = {(u.stack, u.object): u for u in self.units if u.kind_of_wait == 'mutex'}
        self.owners = {}

    def unit_by_mark(self, mark):
        """The outermost unit on the stack to whose addresses the mark belongs. It is half of an address, and stacks that lie apart may
        share halves, most likely with main()'s: it is of the one of whose top it is nearest."""
        found, least = None, None
        first = bisect.bisect_right(self.lows, mark - 1) - 1
        for i in range(first, first - len(self.stacks), -1):  # a negative index is of the last: they may go beyond 2^32
            low, size, u = self.stacks[i]
            from_low = (mark - 1 - low) % 2 ** 32
            if from_low >= self.largest_stack:
                break
            if from_low < size and (least is None or size - from_low < least):
                found, least = u, size - from_low
        return found

    def follow_marks(self, mutex):
        """Who holds it: a unit, or words."""
        mark, seen = number(mutex, 4) or 0, set()
        if mark == 0:
            return None, 'nobody'  # it has just been released
        mark |= 1  # also where it is offered to a waiter
        while True:
            holder = self.unit_by_mark(mark) if mark % 2 else None
            if holder is None:
                return None, 'a kernel thread?'
            waiter = self.on_mutexes.get((holder.stack, mutex))
            if waiter is None or waiter.at in seen or not waiter.displaced:
                return holder, ''
            seen.add(waiter.at)
            mark = waiter.displaced

    def circles(self):
        found, done = [], set()
        for start in self.units:
            path, at = [], start
            while at and at.at not in done:
                done.add(at.at)
                path.append(at)
                at = at.on
            if at in path:
                found.append(path[path.index(at):])
        return found

    def function(self, u):
        """The name of what the unit was given to run."""
        own = self.layout.field(u.operations, 'operations.name_at')
        label = text(self.layout.field(u.operations, 'operations.label'), 1024)
        function = number(u.at + own) if own else 0
        if function:
            name = symbol_at(function)
            if not label or not name.startswith('No symbol'):
                return name
        _, found, callable_type = label.partition('Callable = ')
        if found:
            callable_type = callable_type[:callable_type.rfind(']')]
            bound = 'weft::base::bound_call<'
            return first_argument(callable_type[len(bound):]) if callable_type.startswith(bound) else callable_type
        if label:
            return label
        for field in 'operations.name', 'operations.run':
            at = self.layout.field(u.operations, field)
            if at:
                return symbol_at(at)
        return 'main' if u.at == self.primary else '-'

    def find(self, argument):
        """The unit of a number, an address or a name."""
        wanted = argument.strip().lstrip('#')
        for u in self.units:
            if wanted in (str(u.number), hex(u.at)) or (u.name and wanted.strip('"') == u.name):
                return u
        raise gdb.GdbError(f'no thread {argument}; "weft threads" lists them')


class SuspendedThreads(gdb.unwinder.Unwinder):
    """While a context is set, it appears to call the innermost frame that gdb has: registers of a core cannot be
    changed, and those of a process should not be."""

    def __init__(self):
        super().__init__('weft suspended threads')
        self.context = None  # sp, fp, pc

    def set(self, context):
        self.context = None
        gdb.invalidate_cached_frames()
        if context:
            names = registers()
            frame = gdb.newest_frame()
            self.innermost = tuple(int(frame.read_register(n)) for n in (names[0], names[2]))
            self.context = context
            gdb.invalidate_cached_frames()

    def __call__(self, pending):
        if self.context is None:
            return None
        names = registers(pending.architecture())
        values = [pending.read_register(n) for n in names]
        if (int(values[0]), int(values[2])) != self.innermost:
            return None

        class Id:
            sp = gdb.Value(self.context[0] - WORD).cast(values[0].type)  # deeper than the frame it "is called by"
            pc = values[2]
        info = pending.create_unwind_info(Id())
        # gdb takes the pc of a frame that is not the innermost for a return address, and looks one byte before it.
        for name, value, saved in zip(names, values, (*self.context[:2], self.context[2] + 1)):
            info.add_saved_register(name, gdb.Value(saved).cast(value.type))
        return info


def registers(architecture=None):
    architecture = architecture or gdb.newest_frame().architecture()
    names = REGISTERS.get(architecture.name())
    if names is None:
        raise gdb.GdbError(f'the registers of {architecture.name()} are not known here')
    return names


UNWINDER = SuspendedThreads()
gdb.unwinder.register_unwinder(None, UNWINDER, replace=True)


def frames_of(u):
    """The unit's frames, innermost first; UNWINDER is set, or its kernel thread selected, for the caller to undo."""
    if u.has_context:
        UNWINDER.set(u.context)
        frame, sp = gdb.newest_frame(), registers()[0]
        while frame is not None and int(frame.read_register(sp)) != u.context[0]:
            frame = frame.older()
    elif u.worker:
        thread = next((t for t in gdb.selected_inferior().threads() if t.ptid[1] == u.worker.kernel_thread), None)
        if thread is None:
            return
        thread.switch()
        frame = gdb.newest_frame()
    else:
        return
    while frame is not None and frame.name() not in ('weft_arch_thread_base', 'weft_arch_thread_return'):
        yield frame
        reason = frame.unwind_stop_reason()
        if reason not in (gdb.FRAME_UNWIND_NO_REASON, gdb.FRAME_UNWIND_OUTERMOST):
            print('Backtrace stopped: ' + gdb.frame_stop_reason_string(reason))
        frame = frame.older()


def describe(frame):
    where = frame.find_sal()
    name = frame.name() or '??'
    pc = '' if frame.type() == gdb.INLINE_FRAME else f'{frame.pc():#018x} in '
    return f'{pc}{name} ()' + (f' at {where.symtab.filename}:{where.line}' if where.symtab else '')


def print_backtrace(u):
    print(f'{u.title()}, {u.state}' + (f', waits for {u.waits}' if u.waits else ''))
    selected = gdb.selected_thread()
    count = 0
    try:
        for frame in frames_of(u):
            print(f'#{count:<3} {describe(frame)}')
            count += 1
    finally:
        UNWINDER.set(None)
        if selected is not None:
            selected.switch()
    if count == 0:
        print('its frames are behind those of ' + u.on.title() if u.hosts else 'it has no stack, or none that is known')


def print_table(rows):
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    for row in rows:
        print('  '.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def print_circles(circles):
    for circle in circles:
        print(f'\ndeadlock of {len(circle)}:')
        for u in circle:
            held = '' if u.waits.startswith('end of') else f', held by {u.on.title()}'
            print(f'  {u.title()} waits for {u.waits}{held}')


class Command(gdb.Command):
    """Commands for programs that use Weft."""

    def __init__(self, name='weft', prefix=True):
        super().__init__(name, gdb.COMMAND_STACK, gdb.COMPLETE_NONE, prefix)


class Threads(Command):
    """List Weft's threads: state, worker, what each waits for and who owns that. Names deadlocks."""

    def invoke(self, argument, from_tty):
        program = Program()
        rows = [('#', 'UNIT', 'NAME', 'STATE', 'WORKER', 'TECHNIQUE', 'WAITS FOR', 'OWNER', 'FUNCTION')]
        for u in program.units:
            joins = u.waits.startswith('end of')
            rows.append((str(u.number), hex(u.at), u.name or '-', u.state, u.where(program.workers),
                         u.technique if u.kind == 'thread' else u.kind, u.waits or '-',
                         u.on.title() if u.on and not joins else u.owner or '-', u.function[:60]))
        print_table(rows)
        print_circles(program.circles())


class Workers(Command):
    """List Weft's workers: their kernel threads, and what they run."""

    def invoke(self, argument, from_tty):
        program = Program()
        for w in program.workers:
            does = 'asleep' if w.asleep else 'looks for work'
            if w.current:
                does = f'runs {program.by_address[w.current].title()}' if w.current in program.by_address else \
                    'runs a scheduler'
            print(f'worker {w.number}, kernel thread {w.kernel_thread}: {does}')


class Backtrace(Command):
    """weft bt [all | NUMBER | ADDRESS | NAME]: the calls of one of Weft's threads, or of all."""

    def invoke(self, argument, from_tty):
        program = Program()
        chosen = program.units if argument.strip() in ('', 'all') else [program.find(argument)]
        for i, u in enumerate(chosen):
            if i:
                print()
            print_backtrace(u)


class Thread(Command):
    """weft thread NUMBER|ADDRESS|NAME: bt, up, frame, info locals and the like show this suspended thread.

    Its frames follow the innermost one of the kernel thread that is selected. Ends with "weft thread", or when the
    program goes on."""

    def invoke(self, argument, from_tty):
        if not argument.strip():
            UNWINDER.set(None)
            return
        u = Program().find(argument)
        if not u.has_context:
            raise gdb.GdbError(f'{u.title()} is {u.state}: select its kernel thread instead ("weft workers")')
        next(frames_of(u)).select()
        gdb.execute('frame')


class Deadlocks(Command):
    """Name Weft's threads that wait for each other in a circle."""

    def invoke(self, argument, from_tty):
        circles = Program().circles()
        print_circles(circles)
        if not circles:
            print('no deadlock: no threads wait for each other in a circle')


def forget_context(_):
    UNWINDER.context = None


Command()
Threads('weft threads', False)
Workers('weft workers', False)
Backtrace('weft bt', False)
Thread('weft thread', False)
Deadlocks('weft deadlocks', False)
gdb.events.cont.connect(forget_context)
gdb.events.exited.connect(forget_context)
