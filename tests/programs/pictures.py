# SPDX-License-Identifier: MIT
"""Pictures and sounds."""
from harness import program
from inputs import picture, sound


@program('ImageMagick', debian=('imagemagick',), quick=True)
def imagemagick(run):
    hills = run.input('hills.ppm', picture(480, 360))
    run('convert', hills, '-resize', '150%', 'resized.ppm')
    run('convert', 'resized.ppm', '-blur', '0x3', '-rotate', '7', '-colorspace', 'Lab', '-sharpen', '0x2', 'changed.ppm')
    run('compare', '-metric', 'RMSE', 'resized.ppm', 'resized.ppm', 'compared.ppm')


@program('GraphicsMagick', debian=('graphicsmagick',), quick=True)
def graphicsmagick(run):
    hills = run.input('hills.ppm', picture(480, 360))
    run('gm', 'convert', hills, '-resize', '150%', '-blur', '0x3', '-rotate', '7', '-sharpen', '0x2', 'changed.ppm')


@program('pngquant', debian=('pngquant', 'graphicsmagick'), quick=True)
def pngquant(run):
    hills = run.input('hills.ppm', picture(480, 360))
    png = run.input('hills.png', lambda path: run.prepare('gm', 'convert', hills, f'png:{path}'))
    run('pngquant', '--speed', '3', '--output', 'few.png', '64', png)


@program('jpegqs', debian=('jpegqs', 'graphicsmagick'), quick=True)
def jpegqs(run):
    hills = run.input('hills.ppm', picture(480, 360))
    jpeg = run.input('hills.jpg', lambda path: run.prepare('gm', 'convert', hills, '-quality', '40', f'jpg:{path}'))
    run('jpegqs', '--threads', run.threads, jpeg, 'smooth.jpg')


@program('G\'MIC', debian=('gmic',))
def gmic(run):
    hills = run.input('hills.ppm', picture(480, 360))
    run('gmic', hills, '-blur', '3', '-median', '5', '-resize', '150%,150%,1,3,5', '-output', 'changed.ppm')


@program('RawTherapee', debian=('rawtherapee', 'imagemagick'))
def rawtherapee(run):
    tif = run.input('hills.tif', lambda path: run.prepare(
        'convert', run.input('hills.ppm', picture(900, 700)), '-depth', '16', f'tif:{path}'))
    run('rawtherapee-cli', '-o', 'developed.tif', '-t', '-Y', '-d', '-c', tif)
    (run.folder / 'developed.tif').rename(run.folder / 'developed')
    run('convert', 'tif:developed', 'developed.ppm')
    (run.folder / 'developed').unlink()  # it has the time in it


@program('Tesseract', debian=('tesseract-ocr', 'imagemagick'))
def tesseract(run):
    text = run.input('text.png', lambda path: run.prepare(
        'convert', '-size', '700x200', '-background', 'white', '-fill', 'black', '-pointsize', '36',
        'label:Threads that run\nthe regions of programs', f'png:{path}'))
    run('tesseract', text, 'read')


@program('SoX', debian=('sox',), quick=True)
def sox(run):
    wav = run.input('sound.wav', sound(10))
    run('sox', '--multi-threaded', '--buffer', '8192', '-D', wav, 'changed.wav', 'rate', '-v', '48k', 'reverb', '50',
        'equalizer', '1000', '1q', '6', 'flanger')
