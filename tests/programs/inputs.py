# SPDX-License-Identifier: MIT
"""What the programs work on: made from fixed seeds, the same in every run. Each returns a function that writes a file."""
import math
import random
import struct
import wave

AMINO_ACIDS = 'ACDEFGHIKLMNPQRSTVWY'


def picture(width, height, seed=1):
    """A PPM: soft hills, some noise."""
    def write(path):
        r = random.Random(seed)
        rows = []
        for y in range(height):
            row = bytearray()
            for x in range(width):
                hill = 90 + 60 * math.sin(x / 37) * math.cos(y / 29)
                noise = r.getrandbits(5)
                row += bytes((int(hill) + noise, int(hill * 0.7) + (x * 60) // width, (y * 200) // height + noise))
            rows.append(bytes(row))
        path.write_bytes(b'P6\n%d %d\n255\n' % (width, height) + b''.join(rows))
    return write


def mutated(text, r, alphabet, share):
    """With this share of its letters changed, and here and there some lost or doubled."""
    out = []
    for letter in text:
        if r.random() < share:
            letter = r.choice(alphabet)
        if r.random() < share / 10:
            letter = r.choice(('', letter * 2))
        out.append(letter)
    return ''.join(out)


def family(count, length, alphabet, share=0.2, families=1, seed=2):
    """FASTA: sequences that descend from one, or from a few."""
    def write(path):
        r = random.Random(seed)
        roots = [''.join(r.choices(alphabet, k=length)) for _ in range(families)]
        path.write_text(''.join(f'>s{i}\n{mutated(roots[i % families], r, alphabet, share)}\n' for i in range(count)))
    return write


def aligned(count, length, alphabet, seed=3):
    """FASTA: sequences of one length, along a random tree."""
    def write(path):
        r = random.Random(seed)
        them = [''.join(r.choices(alphabet, k=length))]
        while len(them) < count:
            parent = r.choice(them)
            them.append(''.join(r.choice(alphabet) if r.random() < 0.08 else c for c in parent))
        path.write_text(''.join(f'>s{i}\n{s}\n' for i, s in enumerate(them)))
    return write


def reads(count, length, genome, seed=4):
    """FASTA: pieces of one long random sequence."""
    def write(path):
        r = random.Random(seed)
        whole = ''.join(r.choices('ACGT', k=genome))
        starts = (r.randrange(genome - length) for _ in range(count))
        path.write_text(''.join(f'>r{i}\n{whole[s:s + length]}\n' for i, s in enumerate(starts)))
    return write


def noise_bytes(size, seed=5):
    def write(path):
        path.write_bytes(random.Random(seed).randbytes(size))
    return write


def sound(seconds, rate=44100, seed=6):
    """WAV, two channels."""
    def write(path):
        r = random.Random(seed)
        frames = bytearray()
        for i in range(int(seconds * rate)):
            left = 9000 * math.sin(i * 0.05) + 3000 * math.sin(i * 0.31) + r.randrange(-500, 500)
            frames += struct.pack('<hh', int(left), int(left * 0.5))
        with wave.open(str(path), 'wb') as file:
            file.setparams((2, 2, rate, 0, 'NONE', ''))
            file.writeframes(bytes(frames))
    return write


def messages(count, changed, seed=7):
    """A catalogue of gettext's: that many messages, which differ by some words from those with another `changed`."""
    def write(path):
        r = random.Random(seed)
        words = ['able', 'board', 'cannot', 'device', 'error', 'file', 'given', 'host', 'input', 'join', 'kept', 'line']
        text = ['msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n']
        for i in range(count):
            said = [r.choice(words) for _ in range(12)] + [str(i)]
            if changed:
                said[i % 12] = 'other'
            text.append(f'msgid "{" ".join(said)}"\nmsgstr "{"" if changed else i}"\n')
        path.write_text('\n'.join(text))
    return write
