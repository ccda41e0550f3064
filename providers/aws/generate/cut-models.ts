/**
 * Cuts the models of AWS' APIs to the operations of `operations.ts`: `BOTOCORE=<directory> node generate/cut-models.ts`, where the
 * directory is the unpacked Python package `botocore` (Apache-2.0), writes `models/*.json`: shapes with their members, requirements,
 * lengths, ranges, enumerations, patterns and names on the wire, without prose.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ServiceModel, Shape } from './service-model.ts';
import { services, type ServiceSubset } from './operations.ts';

const PROSE = new Set(['documentation', 'documentationUrl', 'deprecatedMessage', 'deprecatedSince']);

const botocore = process.env['BOTOCORE'];
if (botocore === undefined)
  throw new Error('BOTOCORE is not set: name the unpacked directory of the Python package botocore');
for (const service of services) {
  const file = join(botocore, 'data', service.name, service.apiVersion, 'service-2.json.gz');
  const model = cutModel(JSON.parse(gunzipSync(readFileSync(file)).toString()) as ServiceModel, service);
  writeFileSync(
    join(import.meta.dirname, `../models/${service.name}.json`),
    `${JSON.stringify(model, undefined, 1)}\n`,
  );
}

function cutModel(
  { metadata, operations, shapes }: ServiceModel,
  { members, operations: names }: ServiceSubset,
): ServiceModel {
  const kept: Record<string, Shape> = {};
  const keep = (name: string): void => {
    const shape = shapes[name];
    if (!shape || Object.hasOwn(kept, name)) return;
    const only = members[name];
    const cut = only && shape.members ? { ...shape, members: pick(shape.members, only, name) } : shape;
    kept[name] = withoutProse(cut);
    for (const { shape: of } of [...Object.values(cut.members ?? {}), cut.member, cut.key, cut.value].filter(
      (one) => one !== undefined,
    ))
      keep(of);
  };
  const cutOperations = Object.fromEntries(
    names.map((name) => {
      const operation = operations[name];
      if (!operation) throw new Error(`${metadata.serviceId} has no operation ${name}`);
      for (const { shape } of [operation.input, operation.output, ...(operation.errors ?? [])].filter(
        (one) => one !== undefined,
      ))
        keep(shape);
      return [name, withoutProse(operation)];
    }),
  );
  return {
    metadata,
    operations: cutOperations,
    shapes: Object.fromEntries(Object.entries(kept).toSorted(([a], [b]) => (a < b ? -1 : 1))),
  };
}

function pick<T>(all: Readonly<Record<string, T>>, names: readonly string[], of: string): Record<string, T> {
  return Object.fromEntries(
    names.map((name) => {
      const one = all[name];
      if (one === undefined) throw new Error(`${of} has no member ${name}`);
      return [name, one];
    }),
  );
}

function withoutProse<T>(value: T): T {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => (PROSE.has(key) && typeof inner === 'string' ? undefined : inner)),
  ) as T;
}
