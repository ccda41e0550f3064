import assert from 'node:assert/strict';
import { test } from 'node:test';
import { librariesIn } from './shared-libraries.ts';

test('libraries and the loader are taken from what ldd prints, and the kernel is not', () => {
  const listed = [
    '\tlinux-vdso.so.1 (0x00007f5e133b8000)',
    '\tlibstdc++.so.6 => /lib/x86_64-linux-gnu/libstdc++.so.6 (0x00007f5e13000000)',
    '\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f5e12e1e000)',
    '\t/lib64/ld-linux-x86-64.so.2 (0x00007f5e133ba000)',
  ].join('\n');
  assert.deepEqual(librariesIn(`${listed}\n`), [
    '/lib/x86_64-linux-gnu/libc.so.6',
    '/lib/x86_64-linux-gnu/libstdc++.so.6',
    '/lib64/ld-linux-x86-64.so.2',
  ]);
});

test('a library that is missing, and a program without any, are errors', () => {
  assert.throws(() => librariesIn('\tlibx.so.1 => not found\n'), /libx\.so\.1 is not on this machine/u);
  assert.throws(() => librariesIn('\tstatically linked\n'), /statically linked/u);
});
