/** A time that is not set is `null` in JSON where its field has no `omitzero`, and missing in protobuf: no type of ours has null. */
export function withoutNulls(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => inner ?? undefined));
}
