import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import * as fc from 'fast-check';
import { readProtobuf } from './protobuf-body.ts';
import { StatusError } from './status-error.ts';

type Write = (writer: BinaryWriter) => BinaryWriter;

const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' };
const NAMESPACE = { apiVersion: 'v1', kind: 'Namespace' };

const string =
  (field: number, value: string): Write =>
  (writer) =>
    writer.tag(field, WireType.LengthDelimited).string(value);

const varint =
  (field: number, value: number): Write =>
  (writer) =>
    writer.tag(field, WireType.Varint).int64(value);

const message =
  (field: number, ...parts: readonly Write[]): Write =>
  (writer) =>
    writer.tag(field, WireType.LengthDelimited).bytes(encode(parts));

function encode(parts: readonly Write[]): Uint8Array {
  const writer = new BinaryWriter();
  for (const part of parts) part(writer);
  return writer.finish();
}

function bodyOf({ apiVersion, kind }: { apiVersion: string; kind: string }, ...parts: readonly Write[]): Buffer {
  const envelope = encode([message(1, string(1, apiVersion), string(2, kind)), message(2, ...parts), string(3, '')]);
  return Buffer.concat([Buffer.from('k8s\0'), envelope]);
}

const codeOf = (read: () => unknown): number => {
  try {
    read();
    return 200;
  } catch (error) {
    assert.ok(error instanceof StatusError, String(error));
    return error.code;
  }
};

test('a Namespace and a ConfigMap, with the zeros that a Go client sends for what is not set', () => {
  const zeros = [string(2, ''), string(5, ''), string(6, ''), varint(7, 0), message(8)];
  const label = message(11, string(1, 'team'), string(2, 'a'));
  const namespace = [message(1, string(1, 'n'), ...zeros, label), message(2, string(1, 'kubernetes')), message(3)];
  assert.deepEqual(readProtobuf(bodyOf(NAMESPACE, ...namespace), NAMESPACE), {
    ...NAMESPACE,
    metadata: { name: 'n', labels: { team: 'a' } },
    spec: { finalizers: ['kubernetes'] },
  });
  const data = [message(2, string(1, 'a'), string(2, '1')), message(2, string(1, 'b')), varint(4, 1)];
  assert.deepEqual(readProtobuf(bodyOf(CONFIG_MAP, message(1, string(1, 'c')), ...data), CONFIG_MAP), {
    ...CONFIG_MAP,
    metadata: { name: 'c' },
    data: { a: '1', b: '' },
    immutable: true,
  });
});

test('what is not read is 415, what is no message is 400, and neither is half an object', () => {
  const refused = (...parts: readonly Write[]): number =>
    codeOf(() => readProtobuf(bodyOf(CONFIG_MAP, ...parts), CONFIG_MAP));
  assert.equal(refused(string(99, 'new')), 415);
  assert.equal(refused(message(1, string(5, 'a-uid'))), 415);
  assert.equal(refused(message(1, message(13, string(1, 'Node')))), 415, 'an owner');
  assert.equal(refused(varint(1, 1)), 400, 'metadata that is a number');
  assert.equal(
    codeOf(() => readProtobuf(bodyOf(CONFIG_MAP), { apiVersion: 'v1', kind: 'Node' })),
    415,
  );
  assert.equal(
    codeOf(() => readProtobuf(bodyOf({ apiVersion: 'v2', kind: 'ConfigMap' }), CONFIG_MAP)),
    415,
  );
  assert.equal(
    codeOf(() => readProtobuf(Buffer.from('{}'), CONFIG_MAP)),
    400,
  );
});

test('property: no bytes are anything but an object, a 400 or a 415', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), fc.boolean(), (bytes, wrapped) => {
      const raw: Write = (writer) => writer.raw(bytes);
      const body = wrapped ? bodyOf(CONFIG_MAP, raw) : Buffer.concat([Buffer.from('k8s\0'), bytes]);
      assert.ok([200, 400, 415].includes(codeOf(() => readProtobuf(body, CONFIG_MAP))));
    }),
  );
});
