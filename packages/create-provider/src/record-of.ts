/**
 * A mapping of YAML that was read with `mapAsMap`, by its keys; `undefined`: it is none. Without `mapAsMap` a text is made of each key that is a
 * mapping: that takes a minute for 1 KiB.
 */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return value instanceof Map ? Object.fromEntries<unknown>(value as ReadonlyMap<string, unknown>) : undefined;
}
