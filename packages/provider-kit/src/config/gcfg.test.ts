import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ConfigSyntaxError } from './config-syntax-error.ts';
import { parseGcfg } from './gcfg.ts';

const valueOf = (text: string): string | undefined => parseGcfg(text).find(({ key }) => key === 'name')?.value;

/** What gcfg v1 reads of each (read_test.go, readtests). */
const values: readonly (readonly [text: string, value: string])[] = [
  ['[section]\nname=value', 'value'],
  ['[section]\nname="val#ue"', 'val#ue'],
  ['[section]\nname=""', ''],
  ['[section]\nname=" "', ' '],
  ['[section]\nname=" value "', ' value '],
  ['\n[section]\nname="va ; lue"', 'va ; lue'],
  ['[section]\nname="val" "ue"', 'val ue'],
  ['[section]\nname="va\\\\lue"', 'va\\lue'],
  ['[section]\nname="va\\"lue"', 'va"lue'],
  ['[section]\nname="va\\nlue"', 'va\nlue'],
  ['[section]\nname="va\\tlue"', 'va\tlue'],
  ['[section]\nname=\\"value\\"', '"value"'],
  ['[section]\nname=value \\\n value', 'value  value'],
  ['[section]\nname=value \\\r\n value\r\n', 'value  value'],
  [' \n[section]\nname=value', 'value'],
  ['\t[section]\nname=value', 'value'],
  ['[ section]\nname=value', 'value'],
  ['[section ]\nname=value', 'value'],
  ['[section]\n name=value', 'value'],
  ['[section]\nname = value ', 'value'],
  ['[section]\r\nname=value\r\n', 'value'],
  [';cmnt\r\n[section]\r\nname=value\r\n', 'value'],
  [`[section${' '.repeat(4096)}]${' '.repeat(4096)}\nname${' '.repeat(4096)}=value`, 'value'],
  [' # cmnt\n[section] ; cmnt\nname=value; cmnt', 'value'],
  ['\n[section]\nname="value" ; cmnt', 'value'],
  ['\n[section]\nname=value ; "cmnt', 'value'],
  ['\n[section]\nname="va ; lue" ; cmnt', 'va ; lue'],
  ['\n[section]\nname=; cmnt', ''],
  ['\uFEFF[section]\nname=value', 'value'],
  ['[section]\nname=a = b', 'a = b'],
];

for (const [text, value] of values) {
  test(`reads ${JSON.stringify(text.replaceAll(/ {9,}/gu, '…'))} as ${JSON.stringify(value)}`, () => {
    assert.equal(valueOf(text), value);
  });
}

/** What gcfg v1 refuses, and the line on which it is wrong. */
const refused: readonly (readonly [text: string, line: number])[] = [
  ['[section]\nname="value', 2],
  ['[section]\nname="value\nother=1', 2],
  ['\n[section]\nname=\\', 3],
  ['\n[section]\nname=\\a', 3],
  ['\n[section]\nname="val\\a"', 3],
  ['\n[section]\nname=val\\', 3],
  ['\n[sub "A\\\n"]\nname=value', 2],
  ['\n[sub "A\\\t"]\nname=value', 2],
  ['\n[sub "A\\n"]\nname=value', 2],
  ['[section]\nname="value \\\n value"', 2],
  ['\n[section]\n=', 3],
  ['name=value', 1],
  ['\n[]\nname=value', 2],
  ['\n[sub ""]\nname=value', 2],
  ['[section] name=value', 1],
  ['[section\nname=value', 1],
  ['[section]\nname: value', 2],
  ['[section]\nna_me=value', 2],
  ['[section]\nname=val\0ue', 2],
];

for (const [text, line] of refused) {
  test(`refuses ${JSON.stringify(text)} on line ${line}`, () => {
    assert.throws(
      () => parseGcfg(text),
      (error) => error instanceof ConfigSyntaxError && error.line === line,
    );
  });
}

test('sections, subsections, keys without a value, repeated keys, with their lines', () => {
  const text = '[Route]\n\n[LoadBalancerClass "a \\"b\\" \\\\"]\nx = 1\nX\n[Route]\nx=2 \\\n3\ny=4';
  const subsection = 'a "b" \\';
  assert.deepEqual(parseGcfg(text), [
    { section: 'Route', subsection: undefined, key: undefined, value: undefined, line: 1 },
    { section: 'LoadBalancerClass', subsection, key: undefined, value: undefined, line: 3 },
    { section: 'LoadBalancerClass', subsection, key: 'x', value: '1', line: 4 },
    { section: 'LoadBalancerClass', subsection, key: 'X', value: undefined, line: 5 },
    { section: 'Route', subsection: undefined, key: undefined, value: undefined, line: 6 },
    { section: 'Route', subsection: undefined, key: 'x', value: '2 3', line: 7 },
    { section: 'Route', subsection: undefined, key: 'y', value: '4', line: 9 },
  ]);
});

const letters = 'abcdefghijklmnopqrstuvwxyzABCXYZé甲';
const name = fc
  .tuple(
    fc.constantFrom(...letters.split('')),
    fc.string({ unit: fc.constantFrom(...`${letters}0123456789-`.split('')), maxLength: 9 }),
  )
  .map(([first, rest]) => first + rest);
const anyText = fc
  .string({ unit: 'binary', maxLength: 30 })
  .filter((text) => !/[\r\0]/u.test(text) && text.isWellFormed());

const escape = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"');
const quote = (text: string): string => `"${escape(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t')}"`;

test('what is printed is parsed back', () => {
  const setting = fc.record({ key: name, value: fc.option(anyText, { nil: undefined }) });
  const section = fc.record({
    section: name,
    subsection: fc.option(
      anyText.filter((text) => text !== '' && !text.includes('\n')),
      { nil: undefined },
    ),
    settings: fc.array(setting, { maxLength: 5 }),
  });
  fc.assert(
    fc.property(fc.array(section, { maxLength: 5 }), (sections) => {
      const lines: string[] = [];
      const expected = sections.flatMap(({ section, subsection, settings }) => {
        lines.push(subsection === undefined ? `[${section}]` : `[${section} "${escape(subsection)}"]`);
        const header = { section, subsection, key: undefined, value: undefined, line: lines.length };
        const entries = settings.map(({ key, value }) => {
          lines.push(value === undefined ? ` ${key} # nothing` : `${key} = ${quote(value)} ; "said`);
          return { section, subsection, key, value, line: lines.length };
        });
        return [header, ...entries];
      });
      assert.deepEqual(parseGcfg(lines.join('\n')), expected);
    }),
  );
});

test('no text does anything but be read or be refused', () => {
  const piece = fc.constantFrom(
    '[',
    ']',
    '"',
    '\\',
    '\n',
    '\r\n',
    '=',
    ';',
    '#',
    ' ',
    '\t',
    'a',
    '1',
    '[a]',
    'k=v',
    'é',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const text = pieces.join('');
      try {
        for (const { line } of parseGcfg(text)) assert.ok(line <= text.split('\n').length);
      } catch (error) {
        assert.ok(error instanceof ConfigSyntaxError && error.line >= 1 && error.line <= text.split('\n').length + 1);
      }
    }),
  );
});
