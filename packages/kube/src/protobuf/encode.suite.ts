/** Writes protobuf by hand, right or wrong, for tests of what reads it. */

function lengthOf(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest & 127) | 128);
  }
}

/** A field with a number; `tag` is its number and its encoding. */
export function varint(tag: number, value: number): Buffer {
  return Buffer.concat([lengthOf(tag), lengthOf(value)]);
}

/** A field with bytes, a text or a message. */
export function delimited(number: number, content: Buffer): Buffer {
  return Buffer.concat([lengthOf((number << 3) | 2), lengthOf(content.length), content]);
}

/** An object as the API server sends it. */
export function enveloped(kind: string, ...fields: readonly Buffer[]): Buffer {
  const type = Buffer.concat([delimited(1, Buffer.from('v1')), delimited(2, Buffer.from(kind))]);
  return Buffer.concat([Buffer.from('k8s\0'), delimited(1, type), delimited(2, Buffer.concat(fields))]);
}

export function watchEvent(type: string, object: Buffer): Buffer {
  return Buffer.concat([delimited(1, Buffer.from(type)), delimited(2, delimited(1, object))]);
}

/** As it comes in a watch. */
export function framed(message: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(message.length);
  return Buffer.concat([length, message]);
}
