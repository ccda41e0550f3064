import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Node } from '../types/index.ts';
import { trimNode } from '../transform.ts';
import { readList, readObject, readStatus, readWatchEvent } from './envelope.ts';
import { delimited, enveloped, varint, watchEvent } from './encode.suite.ts';
import { UnreadableMessageError } from './message-reader.ts';
import { withoutNulls } from './without-nulls.suite.ts';

interface Vector {
  readonly name: string;
  readonly kind: string;
  readonly protobuf: string;
  readonly json: { readonly items?: object[] | null; readonly metadata?: object };
}

/** Written by `tools/kube-protobuf`: by the Go types and encoders that the API server has. */
const vectors = JSON.parse(readFileSync(new URL('vectors.json', import.meta.url), 'utf8')) as readonly Vector[];
const bytesOf = ({ protobuf }: Vector): Buffer => Buffer.from(protobuf, 'base64');
const read = (vector: Vector, bytes = bytesOf(vector)): unknown =>
  vector.kind === 'NodeList' ? readList('Node', bytes) : readObject(vector.kind, bytes);

function trimmedJson({ kind, json }: Vector): unknown {
  if (kind === 'NodeList') {
    const items = (json.items ?? []).map((item) => trimNode(item as Node));
    return withoutNulls({ metadata: json.metadata, items });
  }
  return withoutNulls(trimNode(json));
}

for (const vector of vectors) {
  test(`what protobuf says is what JSON says, trimmed: ${vector.name}`, () => {
    assert.deepEqual(read(vector), trimmedJson(vector));
  });
}

test('a field that is not known is an error, wherever it is: nothing is lost silently', () => {
  const field = varint(99 << 3, 1);
  const node = (more: Buffer): Buffer => enveloped('Node', more);
  assert.throws(() => readObject('Node', node(field)), /Node has a field 99/);
  assert.throws(() => readObject('Node', node(delimited(1, field))), /ObjectMeta has a field 99/);
  assert.throws(() => readObject('Node', node(delimited(2, delimited(5, field)))), /Taint has a field 99/);
  assert.throws(() => readObject('Node', Buffer.concat([node(Buffer.alloc(0)), field])), UnreadableMessageError);
  assert.throws(
    () => readWatchEvent('Node', Buffer.concat([watchEvent('ADDED', node(Buffer.alloc(0))), field])),
    /event/,
  );
});

test('what is trimmed is passed over, whatever is in it', () => {
  const images = delimited(3, delimited(8, Buffer.from([0xff, 0xff, 0xff])));
  const managedFields = delimited(1, delimited(17, Buffer.from([0xff])));
  assert.deepEqual(readObject('Node', enveloped('Node', images, managedFields)), {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: {},
    status: {},
  });
});

test('what a kubelet writes is cut as that of JSON', () => {
  const text = (number: number, value: string): Buffer => delimited(number, Buffer.from(value));
  const condition = Buffer.concat([text(1, 'Ready'), text(2, 'True'), text(6, 'x'.repeat(5_000))]);
  const status = delimited(3, Buffer.concat(Array.from({ length: 2_000 }, () => delimited(4, condition))));
  const json = { type: 'Ready', status: 'True', message: 'x'.repeat(1_024) };
  const { conditions = [] } = trimNode(readObject('Node', enveloped('Node', status))).status ?? {};
  assert.deepEqual([conditions.length, withoutNulls(conditions[0])], [1_000, json]);
});

test('another kind, another encoding, no magic, and a key that would be a prototype are errors', () => {
  const label = (key: string): Buffer =>
    delimited(1, delimited(11, Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, Buffer.from('x'))])));
  assert.deepEqual(readObject('Node', enveloped('Node', label('a'))), {
    kind: 'Node',
    apiVersion: 'v1',
    metadata: { labels: { a: 'x' } },
  });
  const wrong = [
    enveloped('Pod'),
    Buffer.from('{"kind":"Node"}'),
    Buffer.from('k8s'),
    Buffer.alloc(0),
    enveloped('Node', label('__proto__')),
    // A name that is a number, and a nested message that is one.
    enveloped('Node', delimited(1, varint(1 << 3, 7))),
    enveloped('Node', varint(1 << 3, 7)),
    // A group.
    enveloped('Node', delimited(1, Buffer.from([(17 << 3) | 3]))),
    // An envelope that says that its content is compressed.
    Buffer.concat([enveloped('Node'), delimited(3, Buffer.from('gzip'))]),
    // One that holds two.
    Buffer.concat([enveloped('Node'), delimited(2, Buffer.alloc(0))]),
    // The year 292277026596.
    enveloped('Node', delimited(1, delimited(8, Buffer.from('0880ffffffffffffff7f', 'hex')))),
  ];
  for (const bytes of wrong)
    assert.throws(() => readObject('Node', bytes), UnreadableMessageError, bytes.toString('hex'));
});

test('an event of a watch: a bookmark, and an error with the Status', () => {
  const [status] = vectors.filter(({ name }) => name === 'Status: everything set');
  const bookmark = enveloped('Node', delimited(1, delimited(6, Buffer.from('77'))));
  assert.deepEqual(readWatchEvent('Node', watchEvent('BOOKMARK', bookmark)), {
    type: 'BOOKMARK',
    object: { kind: 'Node', apiVersion: 'v1', metadata: { resourceVersion: '77' } },
  });
  assert.ok(status);
  assert.deepEqual(readWatchEvent('Node', watchEvent('ERROR', bytesOf(status))), {
    type: 'ERROR',
    object: readStatus(bytesOf(status)),
  });
});

test('cut off anywhere, it is an error or the whole, never another object', () => {
  for (const vector of vectors) {
    const bytes = bytesOf(vector);
    const whole = JSON.stringify(read(vector));
    for (let length = 0; length < bytes.length; length++) {
      try {
        // Cut between two fields of the envelope, behind the object: that is whole.
        assert.equal(JSON.stringify(read(vector, bytes.subarray(0, length))), whole);
      } catch (error) {
        assert.ok(error instanceof UnreadableMessageError, `${vector.name} cut at ${length}: ${String(error)}`);
      }
    }
  }
});

test('whatever the bytes are, it is an object or this one error, and no more memory than they are long', () => {
  const vector = fc.constantFrom(...vectors);
  const changes = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 8 });
  fc.assert(
    fc.property(vector, changes, (vector, changes) => {
      const bytes = bytesOf(vector);
      for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
      try {
        assert.ok(JSON.stringify(read(vector, bytes)).length < 32 * bytes.length + 1_000);
      } catch (error) {
        assert.ok(error instanceof UnreadableMessageError, String(error));
      }
    }),
    { numRuns: 2_000 },
  );
});

test('lengths and numbers that lie, and messages within messages, cost no more than their bytes', () => {
  const deep = Array.from({ length: 20_000 }, () => Buffer.from([0x0a, 0xff, 0xff, 0x7f]));
  const hostile = [
    enveloped('Node', Buffer.concat(deep)),
    enveloped('Node', delimited(1, Buffer.from('0affffffffffffffffff01', 'hex'))),
    enveloped('Node', delimited(1, Buffer.from('0affffffffffffffffffff01', 'hex'))),
    enveloped('Node', Buffer.alloc(1 << 18, 0xff)),
    enveloped('Node', delimited(8, Buffer.alloc(1 << 18, 0x80))),
  ];
  const before = process.cpuUsage();
  for (const bytes of hostile) assert.throws(() => readObject('Node', bytes), UnreadableMessageError);
  const many = enveloped(
    'Node',
    delimited(2, Buffer.concat(Array.from({ length: 1 << 17 }, () => Buffer.from('3a00', 'hex')))),
  );
  assert.equal((readObject('Node', many) as Node).spec?.podCIDRs?.length, 1 << 17);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 1_000_000, `${user / 1000} ms of CPU`);
});
