import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { KnownSecrets } from './known-secrets.ts';

test('of each source the newest are remembered, however many another one gives; what has no source stays', () => {
  const secrets = new KnownSecrets();
  assert.equal(secrets.isEmpty, true);
  secrets.add('password;');
  secrets.add('token-of-a;', { source: 'a' });
  for (let n = 0; n < 1_000; n++) secrets.add(`token-${n};`, { source: 'b' });
  // It has no source; that it turns up in one as well makes it no younger.
  secrets.add('password;', { source: 'b' });
  assert.equal(secrets.replaceIn('password; token-of-a; token-999; token-968;', '-'), '- - - -');
  assert.equal(secrets.replaceIn('token-967;', '-'), 'token-967;');
});

test('a secret that is in use stays, however long ago it was given first', () => {
  const secrets = new KnownSecrets();
  for (let n = 0; n < 100; n++) {
    secrets.add('in-use;', { source: 'a' });
    secrets.add(`token-${n};`, { source: 'a' });
  }
  assert.equal(secrets.replaceIn('in-use; token-70; token-68;', '-'), '- - token-68;');
});

test('of two secrets that overlap nothing is left; what stands instead is taken as it is', () => {
  const secrets = new KnownSecrets();
  for (const secret of ['', 'ab', 'abc', 'cde']) secrets.add(secret);
  assert.equal(secrets.replaceIn('ab abc abab abcabc xabcdex', '$&'), '$& $& $&$& $&$& x$&x');
});

const PASSWORD = 'pÄss/w<o>rd&"x+Y \u{1f511}9';
const escaped = (text: string, characters: RegExp, hex: (code: string) => string = (code) => code): string =>
  text.replaceAll(characters, (one) =>
    Array.from(one.split(''), (unit) => `\\u${hex(unit.charCodeAt(0).toString(16).padStart(4, '0'))}`).join(''),
  );
const json = (text: string): string => JSON.stringify(text).slice(1, -1);
const lowerPercent = encodeURIComponent(PASSWORD).replaceAll(/%../g, (code) => code.toLowerCase());
const html = PASSWORD.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');

for (const [what, shown] of [
  ['as it is', PASSWORD],
  ['in JSON', json(PASSWORD)],
  ['in JSON as Python writes it', escaped(json(PASSWORD), /[\u0080-\uffff]/g)],
  ['in JSON as Go writes it', escaped(json(PASSWORD), /[<>&]/g)],
  ['in JSON with capital digits', escaped(json(PASSWORD), /[\u0080-\uffff<>&]/g, (code) => code.toUpperCase())],
  ['in JSON in JSON', json(json(PASSWORD))],
  ['in JSON in JSON in JSON, percent-encoded', encodeURIComponent(json(json(json(PASSWORD))))],
  ['percent-encoded', encodeURIComponent(PASSWORD)],
  ['percent-encoded in small letters', lowerPercent],
  ['percent-encoded in small and capital letters', lowerPercent.replace(/%../, (code) => code.toUpperCase())],
  ['percent-encoded twice', encodeURIComponent(lowerPercent)],
  ['in a form', new URLSearchParams([['p', PASSWORD]]).toString().slice(2)],
  ['in a page', html],
  ['in a page, by numbers', PASSWORD.replaceAll(/[^\w ]/gu, (one) => `&#x${one.codePointAt(0)?.toString(16)};`)],
  ['in hexadecimal digits', Buffer.from(PASSWORD).toString('hex')],
  ['in capital hexadecimal digits', Buffer.from(PASSWORD).toString('hex').toUpperCase()],
] as const) {
  test(`a secret is found ${what}`, () => {
    const secrets = new KnownSecrets();
    secrets.add(PASSWORD);
    assert.equal(secrets.replaceIn(`a "${shown}" b`, '-'), 'a "-" b');
  });
}

test('a secret is found in the base64 of whatever holds it, of both alphabets', () => {
  const secrets = new KnownSecrets();
  secrets.add(PASSWORD);
  for (const before of ['', 'a', 'ab', 'abc']) {
    for (const after of ['', 'x', 'xy', 'xyz']) {
      for (const alphabet of ['base64', 'base64url'] as const) {
        const text = Buffer.from(before + PASSWORD + after).toString(alphabet);
        const clean = secrets.replaceIn(text, '!');
        assert.match(clean, /!/);
        assert.ok(!Buffer.from(clean.replaceAll('!', ''), alphabet).toString().includes('w<o>rd'), clean);
      }
    }
  }
});

for (const [what, encode] of [
  ['as it is', String],
  ['in JSON', json],
  ['in JSON as Python writes it', (text) => escaped(json(text), /[\u0080-\uffff]/g)],
  ['in JSON in JSON', (text) => json(json(text))],
  ['percent-encoded', encodeURIComponent],
  ['percent-encoded twice', (text) => encodeURIComponent(encodeURIComponent(text))],
  ['in a page', (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&#34;')],
  ['in hexadecimal digits', (text) => Buffer.from(text).toString('hex')],
  ['in base64', (text) => Buffer.from(text).toString('base64')],
] as readonly (readonly [string, (text: string) => string])[]) {
  test(`the beginning of a secret is found ${what} where it is cut, wherever that is`, () => {
    const secrets = new KnownSecrets();
    secrets.add(`${PASSWORD}-is-long`);
    const whole = encode(`${PASSWORD}-is-long`);
    // Of base64 the last characters are those of what stands behind it too.
    for (let length = encode(PASSWORD.slice(0, 8)).length; length < whole.length - 3; length++) {
      for (const after of ['…', '…" (300 characters)', '...)']) {
        const clean = secrets.replaceIn(`a ${whole.slice(0, length)}${after}`, '-');
        const tail = clean.slice(3, -after.length);
        assert.ok(clean.startsWith('a -') && clean.endsWith(after), clean);
        // A half of an escape may stay.
        assert.match(tail, /^(?:[\\%&][\w#\\]*|am?p?|\ufffd)?$/u);
      }
    }
  });
}

test('a beginning that is cut without a mark is found at the end of the text; words like it stay', () => {
  const secrets = new KnownSecrets();
  for (const secret of ['openstack-correct-horse', 'token-of-an-hour-1', 'token-of-a-day', 'short-1;'])
    secrets.add(secret);
  for (const [text, clean] of [
    ['it said openstack-correc', 'it said -'],
    ['openstack-co…', '-…'],
    ['token-of-an-hour-… and openstack…', '-… and -…'],
    ['openstack', 'openstack'],
    ['openstack: token-of-a; short-1… opensta…', 'openstack: token-of-a; short-1… opensta…'],
  ] as const) {
    assert.equal(secrets.replaceIn(text, '-'), clean);
  }
});

test('a secret of a few characters that counts as a word leaves the words around it alone', () => {
  const secrets = new KnownSecrets();
  secrets.add('nova', { wholeWord: true });
  assert.equal(
    secrets.replaceIn('nova: "nova", renovation, supernova, nova2, %6eova', '-'),
    '-: "-", renovation, supernova, nova2, -',
  );
});

test('an encoding is one with digits of either case; a secret whose own letters have another case is another text', () => {
  const secrets = new KnownSecrets();
  secrets.add('hunter2-horse/1');
  for (const text of ['hunter2-horse%2f1', 'hunter2-horse%2F1', '%68unter2-horse\\u002f1', '%68UNTER2-HORSE%2f1']) {
    assert.equal(secrets.replaceIn(text, '-'), text.includes('H') ? text : '-');
  }
});

test('what looks like an escape and is none stays as it is', () => {
  const secrets = new KnownSecrets();
  secrets.add('nothing-here');
  for (const text of ['100 % \\u12 \\x \\q & &; &nosuch; &#x110000; &#; %zz \\', '\ud800', '']) {
    assert.equal(secrets.replaceIn(text, '-'), text);
    assert.equal(secrets.replaceIn(`${text} nothing-here`, '-'), `${text.replace('\ud800', '\ufffd')} -`);
  }
});

test('property: a secret is found in any text, through any of the encodings, and the rest of the text stays', () => {
  const encodings: readonly ((text: string) => string)[] = [
    (text) => text,
    json,
    encodeURIComponent,
    (text) => escaped(json(text), /[^ -~]/g),
    (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;'),
  ];
  const part = fc.string({ unit: fc.constantFrom('x', 'ä', '\\', '%', '&', '"', '\u{1f511}', '<', '1') });
  const secret = fc.string({
    unit: fc.constantFrom('s', 'ö', '\\', '%', '&', '"', '<', '2'),
    minLength: 8,
    maxLength: 12,
  });
  fc.assert(
    fc.property(
      secret,
      part,
      part,
      fc.array(fc.constantFrom(...encodings), { maxLength: 3 }),
      (value, before, after, ways) => {
        const secrets = new KnownSecrets();
        secrets.add(`s${value}s`);
        const encode = (text: string): string => ways.reduce((sum, way) => way(sum), text);
        const clean = secrets.replaceIn(`${encode(before)} ${encode(`s${value}s`)} ${encode(after)}`, '-');
        assert.equal(clean, `${encode(before)} - ${encode(after)}`);
      },
    ),
    { numRuns: 500 },
  );
});
