#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a library exports what compiled programs of Argobots look for, and that abt.h declares the same.

usage: symbols.py libabt.so abt.h

symbols.txt lists the names: T for a function, D for a variable. The library may export ABTX_ names besides, no
other ABT_ names.
"""
import re
import subprocess
import sys
from pathlib import Path

SONAME = 'libabt.so.1'


def listed():
    """The names of symbols.txt: functions, variables."""
    lines = [line.split() for line in (Path(__file__).parent / 'symbols.txt').read_text().splitlines()]
    names = {kind: [name for k, name in lines if k == kind] for kind in 'TD'}
    if names['T'] != sorted(names['T']) or names['D'] != sorted(names['D']):
        sys.exit('symbols.txt is not sorted')
    return set(names['T']), set(names['D'])


def exported(library):
    """What the library defines for others: functions, variables, by nm's letters. Weak functions do not count."""
    output = subprocess.run(['nm', '-D', '--defined-only', library], check=True, capture_output=True, text=True)
    functions, variables = set(), set()
    for line in output.stdout.splitlines():
        *_, letter, name = line.split()
        name = name.split('@')[0]
        if letter == 'T':
            functions.add(name)
        elif letter in 'BDGRS':
            variables.add(name)
        elif name.startswith('ABT_'):
            sys.exit(f'{library}: {name} has the letter {letter}; neither a function nor a variable')
    return functions, variables


def soname(library):
    output = subprocess.run(['readelf', '-d', library], check=True, capture_output=True, text=True)
    found = re.search(r'\(SONAME\).*\[(.*)\]', output.stdout)
    return found[1] if found else None


def declared(header):
    """What the header declares: functions, variables."""
    text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ', Path(header).read_text(), flags=re.S)
    mark = r'(?:\bABT_(?:API_PUBLIC|DEPRECATED)\s+)*'
    functions = re.findall(rf'^\s*{mark}(?:int|double)\s+(ABT_\w+)\s*\(', text, re.M)
    variables = re.findall(rf'^\s*extern\s+{mark}(?:const\s+)?ABT_\w+\s+{mark}(ABT_\w+)\b', text, re.M)
    return set(functions), set(variables)


def main(library, header):
    errors = []

    def compare(what, expected, found):
        errors.extend(f'{what}: {name} is missing' for name in sorted(expected - found))
        extra = {name for name in found - expected if name.startswith('ABT_')}
        errors.extend(f'{what}: {name} is not in symbols.txt' for name in sorted(extra))

    functions, variables = listed()
    for what, expected, in_library, in_header in zip(('functions', 'variables'), (functions, variables),
                                                     exported(library), declared(header)):
        compare(f'{library}, {what}', expected, in_library)
        compare(f'{header}, {what}', expected, in_header)
    if soname(library) != SONAME:
        errors.append(f'{library}: its soname is {soname(library)}, not {SONAME}')
    print(*errors, sep='\n', end='\n' if errors else '')
    print(f'symbols: {len(functions)} functions, {len(variables)} variables, {len(errors)} errors')
    return 1 if errors else 0


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
