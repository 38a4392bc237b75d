#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks a timeline file and prints what it holds, one "key value" a line.

usage: check_timeline.py FILE
Fails if it is not JSON, lacks a field the Trace Event format asks for, or has stretches of one worker that overlap.
"""
import json
import sys
from collections import Counter, defaultdict

REQUIRED = {'X': ('ts', 'dur', 'name', 'cat', 'pid', 'tid'), 'i': ('ts', 's', 'name', 'pid', 'tid'),
            'M': ('name', 'args', 'pid', 'tid')}


def main(path):
    with open(path, encoding='ascii') as file:
        trace = json.load(file)
    stretches, counts, names = defaultdict(list), Counter(), {}
    for event in trace['traceEvents']:
        for field in REQUIRED[event['ph']]:
            assert field in event, f'{event} lacks {field}'
        if event['ph'] == 'M':
            names[event['tid']] = event['args'].get('name', names.get(event['tid']))
            continue
        assert event['ts'] >= 0, event
        counts[event['name']] += 1
        if event['ph'] != 'X':
            continue
        assert event['dur'] >= 0, event
        stretches[event['tid']].append((round(event['ts'] * 1000), round(event['dur'] * 1000)))
        if event['cat'] == 'unit':
            counts['stop ' + event['args']['stop']] += 1
    for tid, all_of_worker in stretches.items():
        assert names[tid].startswith('worker '), tid
        end = 0
        for start, length in sorted(all_of_worker):
            assert start >= end, f'worker {tid}: two stretches at {start} ns'
            end = start + length
    counts['workers'] = len(names) - 1
    counts['dropped events'] = int(trace['otherData']['dropped'])
    counts['kept events'] = int(trace['otherData']['events'])
    for key, count in sorted(counts.items()):
        print(f'{key}: {count}')


if __name__ == '__main__':
    main(sys.argv[1])
