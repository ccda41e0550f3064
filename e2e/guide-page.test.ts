import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readGuide } from './guide-page.ts';

test('files, runs and commands are read in their order; all else is for people', () => {
  const page = `# Title

<!-- file: a.yaml -->
\`\`\`yaml
a: 1
\`\`\`

Prose, and \`\`\`inline\`\`\`.

<!-- run: restart old -->
\`\`\`text
--a=b
--c
\`\`\`

<!-- run: stop old -->

\`\`\`text
--not-its-flag
\`\`\`

\`\`\`console
$ echo one
one
$ true
\`\`\`
`;
  assert.deepEqual(readGuide(page), [
    { kind: 'file', name: 'a.yaml', text: 'a: 1\n' },
    { kind: 'run', action: 'restart', who: 'old', flags: ['--a=b', '--c'] },
    { kind: 'run', action: 'stop', who: 'old', flags: [] },
    { kind: 'command', command: 'echo one', output: 'one\n' },
    { kind: 'command', command: 'true', output: '' },
  ]);
});
