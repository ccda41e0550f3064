import assert from 'node:assert/strict';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FakeClock } from '@outrigger/testing';
import * as fc from 'fast-check';
import { createLogging, fileDescriptorDestination, type Logging, type LoggingOptions } from './logging.ts';
import { codeOf, describeError } from './log-value.ts';
import { Redactor } from './redactor.ts';
import { parseVmodule, verbosityOf } from './verbosity.ts';

interface Captured extends Logging {
  readonly lines: string[];
}

function capture(options: Partial<LoggingOptions> = {}): Captured {
  const lines: string[] = [];
  const logging = createLogging({
    clock: new FakeClock(Date.UTC(2026, 10, 20, 16, 0, 0, 123)),
    format: 'text',
    component: 'main',
    pid: 77,
    destination: { write: (line) => void lines.push(line) },
    ...options,
  });
  return { ...logging, lines };
}

function coded(message: string, code: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code });
}

test('text lines are klog lines', () => {
  const { logger, lines } = capture();
  logger.info('Node initialised', { node: 'a', writes: 2, ready: true, skipped: undefined, labels: { x: 'y' } });
  logger.warn('Slow');
  logger.with({ controller: 'node', key: 'n1' }).error('Reconcile failed', { error: coded('boom', 'quota') });
  logger.with({ component: 'transport' }).info('Line\nbreak', { text: 'a "b"\nc' });
  assert.deepEqual(lines, [
    'I1120 16:00:00.123000      77 main] "Node initialised" node="a" writes=2 ready=true labels={"x":"y"}\n',
    'W1120 16:00:00.123000      77 main] "Slow"\n',
    'E1120 16:00:00.123000      77 node] "Reconcile failed" controller="node" key="n1" err="boom" code="quota"\n',
    'I1120 16:00:00.123000      77 transport] "Line\\nbreak" text="a \\"b\\"\\nc"\n',
  ]);
});

test('json lines are those of component-base', () => {
  const { logger, lines } = capture({ format: 'json', level: 4 });
  logger.verbose(4, 'Decided', { node: 'a' });
  logger.error('Failed', { error: coded('boom', 'quota') });
  logger.warn('Slow');
  const ts = Date.UTC(2026, 10, 20, 16, 0, 0, 123);
  assert.deepEqual(
    lines.map((line): unknown => JSON.parse(line)),
    [
      { ts, caller: 'main', msg: 'Decided', v: 4, node: 'a' },
      { ts, caller: 'main', msg: 'Failed', err: 'boom', code: 'quota' },
      { ts, caller: 'main', msg: 'Slow', v: 0 },
    ],
  );
});

test('verbose lines come from -v on, or from what --vmodule says of the component', () => {
  const { logger, lines } = capture({ level: 2, vmodule: parseVmodule('node*=5,transport=0') });
  assert.deepEqual([logger.enabled(2), logger.enabled(3)], [true, false]);
  logger.verbose(3, 'no');
  logger.with({ controller: 'node-lifecycle' }).verbose(5, 'yes');
  logger.with({ component: 'transport' }).verbose(1, 'no');
  assert.equal(lines.length, 1);
  assert.equal(verbosityOf('a.b', 1, parseVmodule('a?b=3')), 3);
  assert.equal(verbosityOf('axc', 1, parseVmodule('a.c=3')), 1);
  assert.throws(() => parseVmodule('node'), /"node" is not pattern=N/u);
});

test('an error is told with its causes, once, and with the first code on the way', () => {
  const cause = coded('connection reset', 'ECONNRESET');
  assert.equal(describeError(new Error('lease update failed', { cause })), 'lease update failed: connection reset');
  assert.equal(describeError(new Error('a: connection reset', { cause })), 'a: connection reset');
  assert.equal(describeError(new AggregateError([new Error('x'), cause])), 'x; connection reset');
  assert.equal(describeError({ odd: 1 }), '{"odd":1}');
  const loop = new Error('loop');
  loop.cause = loop;
  assert.equal(describeError(loop), 'loop');
  const { logger, lines } = capture();
  logger.error('Renewal failed', { error: new Error('lease update failed', { cause }) });
  assert.match(lines[0] ?? '', /err="lease update failed: connection reset" code="ECONNRESET"\n$/u);
});

test('the code of a deadline or an abortion is a word, and not the number that browsers once gave it', () => {
  assert.equal(codeOf(new DOMException('no answer within 5000 ms', 'TimeoutError')), 'timeout');
  assert.equal(codeOf(new DOMException('given up', 'AbortError')), 'aborted');
  assert.equal(codeOf(new DOMException('too large', 'QuotaExceededError')), undefined);
});

test('a defect brings its stack; what is thrown but no Error is printed too', () => {
  const { logger, lines } = capture();
  logger.error('Reconcile failed', { error: new TypeError('x is not a function') });
  assert.match(lines[0] ?? '', /stack="TypeError: x is not a function\\n {4}at /u);
  logger.error('Reconcile failed', { error: { status: 3 } });
  assert.match(lines[1] ?? '', /err="\{\\"status\\":3\}"/u);
});

test('odd values do not break a line', () => {
  const circular: Record<string, unknown> = {};
  circular['self'] = circular;
  const { logger, lines } = capture();
  logger.info('Odd', {
    circular,
    big: 12n,
    nan: Number.NaN,
    nothing: null,
    at: new Date(0),
    never: new Date(Number.NaN),
    many: Array.from({ length: 1_000 }, (_, i) => i),
    long: 'x'.repeat(100_000),
  });
  assert.ok((lines[0] ?? '').length < 20_000);
  assert.match(lines[0] ?? '', /big="12" nan="NaN" nothing=null at="1970-01-01T00:00:00.000Z" never="Invalid Date"/u);
});

test('registered secrets and things that look like secrets never reach a line, in either format', () => {
  const jwt = `${Buffer.from('{"alg":"RS256"}').toString('base64url')}.${Buffer.from('{"sub":"x"}').toString('base64url')}.c2ln`;
  const canary = 'canary/with+odd"chars';
  for (const format of ['text', 'json'] as const) {
    const { logger, lines, redactor } = capture({ format, level: 9 });
    redactor.add(canary);
    logger.info(`message ${canary}`, {
      plain: `x${canary}x`,
      encoded: encodeURIComponent(canary),
      base64: Buffer.from(canary).toString('base64'),
      deep: [{ deeper: canary }],
      header: `Bearer ${jwt}`,
      url: 'https://user:hunter22@example.com/path',
      body: 'password: hunter22, token=hunter22',
      pem: '-----BEGIN EC PRIVATE KEY-----\nhunter22\n-----END EC PRIVATE KEY-----',
      clientSecret: 'hunter22',
      error: new Error('outer', { cause: new Error(`inner ${canary} ${jwt}`) }),
    });
    logger.with({ password: 'hunter22', tokens: 3 }).info('bound');
    const all = lines.join('');
    for (const secret of [canary, JSON.stringify(canary).slice(1, -1), jwt, 'hunter22', encodeURIComponent(canary)]) {
      assert.ok(!all.includes(secret), `${secret} in ${all}`);
    }
    assert.ok(!all.includes(Buffer.from(canary).toString('base64').replace(/=+$/u, '')));
    assert.match(all, /example\.com\/path/u);
    assert.match(all, /"?tokens"?[=:]3/u);
  }
});

test('no registered secret survives, wherever it stands', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 8 }), fc.string(), fc.string(), (secret, before, after) => {
      const trimmed = secret.trim();
      // What is part of the mask itself cannot be told from it.
      fc.pre(trimmed.length >= 6 && !'[redacted]'.includes(trimmed) && !trimmed.includes('redacted'));
      const redactor = new Redactor();
      redactor.add(secret);
      const clean = redactor.redact(`${before}${trimmed}${after}`);
      fc.pre(!`${before}[redacted]${after}`.includes(trimmed));
      assert.ok(!clean.includes(trimmed));
    }),
  );
});

test('short values are not registered, and harmless text stays as it is', () => {
  const redactor = new Redactor();
  redactor.add('a');
  assert.equal(redactor.redact('a basic key to a map'), 'a basic key to a map');
});

test('a destination on a file descriptor holds lines back until they are flushed at the latest', () => {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-log-'));
  const fd = openSync(join(directory, 'log'), 'w');
  try {
    const logging = createLogging({
      clock: new FakeClock(),
      format: 'text',
      component: 'main',
      destination: fileDescriptorDestination(fd, new FakeClock()),
    });
    for (let i = 0; i < 100; i++) logging.logger.info('Line', { i });
    logging.flush();
    assert.equal(readFileSync(join(directory, 'log'), 'utf8').split('\n').length, 101);
  } finally {
    closeSync(fd);
    rmSync(directory, { recursive: true });
  }
});

test('a destination on a file descriptor writes the lines of 50 ms together', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-log-'));
  const file = join(directory, 'log');
  const fd = openSync(file, 'w');
  try {
    const clock = new FakeClock();
    const destination = fileDescriptorDestination(fd, clock);
    destination.write('one\n');
    destination.write('two\n');
    assert.equal(clock.pendingTimers, 1);
    await clock.advance(49);
    assert.equal(readFileSync(file, 'utf8'), '');
    await clock.advance(1);
    // Written on the thread pool, which no clock moves.
    while (readFileSync(file, 'utf8') !== 'one\ntwo\n') await clock.settle();
    destination.write('three\n');
    assert.equal(clock.pendingTimers, 1);
    destination.flushSync?.();
    assert.equal(readFileSync(file, 'utf8'), 'one\ntwo\nthree\n');
  } finally {
    closeSync(fd);
    rmSync(directory, { recursive: true });
  }
});

test('lines that nobody reads take only so much memory: the rest is lost, and counted once there is room again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'outrigger-log-'));
  const file = join(directory, 'log');
  const fd = openSync(file, 'w');
  try {
    const clock = new FakeClock();
    const destination = fileDescriptorDestination(fd, clock, { heldBytes: 20_000 });
    const logging = createLogging({ clock, format: 'text', component: 'main', destination });
    // All in one turn: nothing is written meanwhile.
    for (let i = 0; i < 1_000; i++) logging.logger.info('Reconcile failed', { i, error: 'x'.repeat(60) });
    logging.flush();
    const kept = readFileSync(file, 'utf8').split('\n').length - 1;
    assert.ok(kept > 100 && kept < 200, `${kept} lines`);
    logging.logger.info('Reconcile failed');
    logging.flush();
    const lines = readFileSync(file, 'utf8').split('\n').slice(kept, -1);
    assert.equal(lines.length, 2);
    assert.match(lines.join('\n'), new RegExp(`W.*Log lines were dropped.* lines=${1_000 - kept}$`, 'mu'));
  } finally {
    closeSync(fd);
    rmSync(directory, { recursive: true });
  }
});

test('a reader that is gone does not keep the process from ending', () => {
  const logging = capture({
    destination: {
      write: () => {},
      flushSync: () => {
        throw new Error('EPIPE');
      },
    },
  });
  logging.flush();
});

test('a secret that contains another leaves no rest behind, whichever came first', () => {
  const redactor = new Redactor();
  redactor.add('canary');
  redactor.add('canary-and-more');
  assert.equal(redactor.redact('x canary-and-more y canary z'), 'x [redacted] y [redacted] z');
});

test('of rotating secrets the newest are remembered, of others all', () => {
  const redactor = new Redactor();
  redactor.add('for-ever');
  for (let i = 0; i < 100; i++) redactor.add(`token-number-${i}.`, { rotating: 'token' });
  redactor.add('for-ever', { rotating: 'token' });
  assert.equal(redactor.redact('for-ever token-number-99. token-number-0.'), '[redacted] [redacted] token-number-0.');
});

test('the verbosity can be changed while the program runs, for loggers that are there already', () => {
  const lines: string[] = [];
  const { logger, setVerbosity } = createLogging({
    clock: new FakeClock(),
    format: 'text',
    vmodule: [{ pattern: 'loud', level: 9 }],
    destination: { write: (line) => void lines.push(line) },
    component: 'main',
  });
  const [quiet, loud] = [logger.with({ component: 'quiet' }), logger.with({ component: 'loud' })];
  quiet.verbose(4, 'before');
  setVerbosity(4);
  quiet.verbose(4, 'during');
  setVerbosity(0);
  quiet.verbose(4, 'after');
  loud.verbose(9, 'always');
  assert.deepEqual(
    lines.map((line) => /"(\w+)"/u.exec(line)?.[1]),
    ['during', 'always'],
  );
});

test('the keys of an exec plugin push no token out, and each line of the newest key is masked, however long it is', () => {
  const redactor = new Redactor();
  const lineOf = (key: number, line: number): string => `MIIJKAIBAAKCAgEA${key}x${line}x`;
  redactor.add('token-of-the-hour', { rotating: 'token' });
  for (let key = 0; key < 40; key++) {
    const lines = Array.from({ length: 51 }, (_, line) => lineOf(key, line));
    redactor.add(['-----BEGIN RSA KEY-----', ...lines, '-----END RSA KEY-----', ''].join('\n'), { rotating: 'key' });
  }
  assert.equal(redactor.redact('with token-of-the-hour'), 'with [redacted]');
  for (let line = 0; line < 51; line++) assert.equal(redactor.redact(`line ${lineOf(39, line)}`), 'line [redacted]');
  assert.equal(redactor.redact('-----BEGIN RSA KEY-----'), '-----BEGIN RSA KEY-----');
  assert.equal(redactor.redact(lineOf(0, 0)), lineOf(0, 0), 'a key of long ago');
});

test('a secret at the place where a text is cut leaves no half behind, and one that is a key is masked', () => {
  const { logger, lines, redactor } = capture();
  redactor.add('hunter2-correct-horse');
  logger.info(`${'x'.repeat(16_384 - 18)}hunter2-correct-horse`, {
    text: `${'x'.repeat(16_384 - 18)}hunter2-correct-horse`,
    deep: { 'hunter2-correct-horse': 1 },
    'hunter2-correct-horse': 1,
  });
  assert.ok(!lines.join('').includes('hunter2'), lines.join('').replaceAll(/x+/g, 'x'));
});

test('a message is cut too', () => {
  const { logger, lines } = capture();
  logger.info('x'.repeat(100_000));
  assert.ok(lines.join('').length < 17_000);
});

test('no control character of a text reaches a terminal by a line of text', () => {
  const { logger, lines } = capture({ format: 'text', level: 9 });
  const hostile = 'a\u001b[2J\u009b2J\u0085b';
  logger.info(hostile, { hostile, deep: [{ [hostile]: hostile }] });
  assert.doesNotMatch(lines.join('').replaceAll('\n', ''), /\p{Cc}/u);
  assert.match(lines.join(''), /\\u001b\[2J\\u009b2J\\u0085b/u);
});

test('a registered value is masked as a number and as bytes, too', () => {
  for (const format of ['text', 'json'] as const) {
    const { logger, lines, redactor } = capture({ format, level: 9 });
    redactor.add('19480517234');
    redactor.add('hunter22');
    const bytes = Buffer.from('hunter22');
    logger.info('read', {
      pin: 19_480_517_234,
      deep: [{ pin: 19_480_517_234n }],
      bytes,
      view: new Uint8Array(bytes),
      count: 7,
    });
    assert.doesNotMatch(lines.join(''), /19480517234|104|68756e/u);
    assert.match(lines.join(''), /"?count"?[=:]7/u);
  }
});

test('a password in JSON is masked to its end, and the names of keys as programs write them are known', () => {
  const redactor = new Redactor();
  for (const text of [
    '{"password":"correct horse battery"}',
    '{"password": "correct\\"horse battery"}',
    '{"adminPass":"correct"}',
    JSON.stringify(JSON.stringify({ password: 'correct horse battery' })),
    'aws_secret_access_key = correct/horse+battery',
    "{'password': 'correct horse battery'}",
  ]) {
    assert.doesNotMatch(redactor.redact(text), /correct|horse|battery/u, text);
  }
  const harmless = '{"passwordFile":"/etc/a b","name":"b c"}';
  assert.equal(redactor.redact(harmless), harmless);
});

test('a registered value of three to five characters is masked as a word, in words of others it stays', () => {
  const redactor = new Redactor();
  redactor.add('k8s1!');
  redactor.add('nova');
  redactor.add('ab');
  assert.equal(
    redactor.redact('password is k8s1!; user "nova" of supernova, a k8s1!x and ab'),
    'password is [redacted]; user "[redacted]" of supernova, a k8s1!x and ab',
  );
});

test('JSON web tokens are masked within other text, and what only begins like one stays', () => {
  const redactor = new Redactor();
  for (const [text, clean] of [
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln', '[redacted]'],
    ['a=eyJhbGciOiJIUzI1NiJ9.eyJzdWIi,', 'a=[redacted],'],
    ['x.y-eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln.z', 'x.y-[redacted].z'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.', '[redacted]'],
    ['eyJ.eyJhbGciOiJIUzI1NiJ9', 'eyJ.eyJhbGciOiJIUzI1NiJ9'],
    ['session_eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln', 'session_[redacted]'],
    ['session_eyJhbGciOiJSU0EifQ.x7-A.c2ln', 'session_[redacted]'],
    ['keyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln', 'k[redacted]'],
    ['key1eyJhbGciOiJIUzI1NiJ9.eyJzdWIi', 'key1[redacted]'],
    ['keyJobNames1.eyJhbGciOiJIUzI1NiJ9.eyJzdWIi.c2ln.z', 'k[redacted].z'],
    ['keyJhbGciOiJIUzI1NiJ9.abc', 'keyJhbGciOiJIUzI1NiJ9.abc'],
    ['eyJhbGciOiJIUzI1NiJ9', 'eyJhbGciOiJIUzI1NiJ9'],
  ] as const) {
    assert.equal(redactor.redact(text), clean, text);
  }
  assert.equal(redactor.redact('to amqp://nova:p@ss:w@rd@host:5672/x'), 'to amqp://nova:[redacted]@host:5672/x');
  assert.equal(redactor.redact('{\\"password\\": \\"hunter22\\"}'), '{\\"password\\": \\"[redacted]\\"}');
});
