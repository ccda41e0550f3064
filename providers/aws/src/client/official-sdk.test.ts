import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { answerOf } from '../../fake/model-answer.ts';
import { calledModel, readModel } from '../../generate/generate-types.ts';
import { services } from '../../generate/operations.ts';
import type { ServiceModel, ShapeReference } from '../../generate/service-model.ts';
import type { ServiceName } from './call-limits.ts';
import { AnswerDecoder } from './decode-answer.ts';
import { encodeRequest } from './encode-request.ts';
import { endpointOf } from './endpoints.ts';
import { ec2 } from './generated/ec2-api.ts';
import { elb } from './generated/elb-api.ts';
import { elbv2 } from './generated/elbv2-api.ts';
import { sts } from './generated/sts-api.ts';
import { OfficialSdk, type SdkSettings } from './official-sdk.suite.ts';

const APIS = { ec2, elb, elbv2, sts };
const SERVICES = Object.keys(APIS) as readonly ServiceName[];
const RUNS = 6;

/** Texts with what forms and XML must escape. XML has no control characters, and the SDK trims nothing. */
const text = fc.string({
  unit: fc.constantFrom(...Array.from('abZ09 -._~!*()\'"&<>%+=/,;äß€😀')),
  minLength: 1,
  maxLength: 8,
});

/** Values of a shape. Lists of requests are never empty for `ec2`, which cannot say so. */
function values(
  { shapes }: ServiceModel,
  { shape: name }: ShapeReference,
  leastItems: number,
  depth = 0,
): fc.Arbitrary<unknown> {
  const shape = shapes[name];
  const inner = (reference: ShapeReference): fc.Arbitrary<unknown> =>
    values({ shapes } as ServiceModel, reference, leastItems, depth + 1);
  switch (shape?.type) {
    case 'structure': {
      const members = Object.entries(shape.members ?? {}).map(([member, of]) => [member, inner(of)] as const);
      return fc.record(Object.fromEntries(members), { requiredKeys: [...(shape.required ?? [])] });
    }
    case 'list':
      return fc.array(inner(shape.member as ShapeReference), { minLength: leastItems, maxLength: depth > 3 ? 1 : 2 });
    case 'boolean':
      return fc.boolean();
    case 'integer':
    case 'long':
      return fc.integer({ min: -1, max: 65_536 });
    case 'double':
    case 'float':
      return fc.integer({ min: 0, max: 1000 }).map((value) => value / 4);
    case 'timestamp':
      return fc.integer({ min: 0, max: 2_000_000_000 }).map((seconds) => new Date(seconds * 1000));
    case 'string':
      return shape.enum ? fc.constantFrom(...shape.enum) : text;
    default:
      throw new Error(`${name} is a ${shape?.type}`);
  }
}

/** A value as the service writes it: by the model, not by the tables. */
function xmlOf({ metadata, shapes }: ServiceModel, { shape: name }: ShapeReference, value: unknown): string {
  const model = { metadata, shapes } as ServiceModel;
  const shape = shapes[name];
  if (shape?.type === 'list') {
    const item = shape.member as ShapeReference;
    const tag = item.locationName ?? 'member';
    return (value as readonly unknown[]).map((one) => `<${tag}>${xmlOf(model, item, one)}</${tag}>`).join('');
  }
  if (shape?.type === 'structure')
    return Object.entries(value as object)
      .map(([member, one]) => {
        const reference = shape.members?.[member] as ShapeReference;
        const tag = reference.locationName ?? member;
        const inner = xmlOf(model, reference, one);
        return inner === '' ? `<${tag}/>` : `\n  <${tag}>${inner}</${tag}>`;
      })
      .join('');
  const word = value instanceof Date ? value.toISOString() : String(value);
  return word.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&#34;');
}

/** `undefined` members are none, in both. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, inner]) => inner !== undefined)
      .map(([name, inner]) => [name, plain(inner)]),
  );
}

const pairsOf = (form: string): readonly string[] => form.split('&').toSorted();

for (const service of SERVICES) {
  const model = readModel(service);
  const subset = services.find(({ name }) => name === service);
  assert.ok(subset);
  const called = calledModel(model, subset);
  const { apiVersion, protocol, xmlNamespace } = model.metadata;
  const decoder = new AnswerDecoder(APIS[service]);
  test(`${service}, ${apiVersion}: each operation is written and read as by the official SDK`, async () => {
    using sdk = new OfficialSdk(service);
    for (const [operation, { input, output }] of Object.entries(model.operations)) {
      if (!Object.hasOwn(called.operations, operation)) continue;
      const outputs = output ? values(model, output, 0) : fc.constant({});
      const cases = fc.record({
        asked: input ? values(model, input, protocol === 'ec2' ? 1 : 0) : fc.constant({}),
        answered: outputs,
      });
      await fc.assert(
        fc.asyncProperty(cases, async ({ answered, asked }) => {
          const body = output ? xmlOf(model, output, answered) : '<return>true</return>';
          const wrapped =
            protocol === 'ec2'
              ? body
              : `<${operation}Result>${body}</${operation}Result><ResponseMetadata><RequestId>1</RequestId></ResponseMetadata>`;
          const answer = `<?xml version="1.0"?><${operation}Response xmlns="${xmlNamespace}">${wrapped}</${operation}Response>`;
          const judged = await sdk.ask(operation, asked as object, answer);
          const sent = encodeRequest(APIS[service], operation, asked as object);
          assert.deepEqual(pairsOf(sent), pairsOf(judged.sent.body), operation);
          const read = answerOf(called, operation, plain(judged.output) as object);
          assert.deepEqual(plain(decoder.decode(operation, answer)), read, operation);
        }),
        { numRuns: RUNS },
      );
    }
  });
}

test('end points are those of the official SDK: partitions, dual-stack, FIPS', async () => {
  const regions = [
    'eu-central-1',
    'us-east-1',
    'cn-north-1',
    'us-gov-west-1',
    'us-gov-east-1',
    'us-iso-east-1',
    'us-isob-east-1',
    'us-isof-south-1',
    'eu-isoe-west-1',
    'eusc-de-east-1',
    'xx-future-7',
  ];
  const different: string[] = [];
  let compared = 0;
  for (const service of SERVICES)
    for (const region of regions)
      for (const useDualstackEndpoint of [false, true])
        for (const useFipsEndpoint of [false, true]) {
          const settings: SdkSettings = { region, useDualstackEndpoint, useFipsEndpoint };
          using sdk = new OfficialSdk(service, settings);
          const operation =
            service === 'sts' ? 'GetCallerIdentity' : service === 'ec2' ? 'DescribeVpcs' : 'DescribeLoadBalancers';
          const { sent } = await sdk.ask(operation, {}, `<${operation}Response/>`).catch(() => ({ sent: undefined }));
          const ours = endpointOf(APIS[service], region, {
            env: {},
            dualStack: useDualstackEndpoint,
            fips: useFipsEndpoint,
          });
          // What the SDK refuses to ask for, there is not.
          if (sent) compared++;
          if (sent && sent.url !== `${ours.url}/`)
            different.push(`${service} ${JSON.stringify(settings)}: ${sent.url}, ours ${ours.url}`);
        }
  assert.deepEqual(different, []);
  assert.ok(compared > 150, `${compared} were compared`);
});
