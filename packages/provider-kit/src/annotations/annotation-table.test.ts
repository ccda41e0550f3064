import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError, type CloudErrorCode, type LoadBalancerWarning } from '@outrigger/cloud-provider';
import { annotationTable } from './annotation-table.ts';

const table = annotationTable({
  size: { name: 'lb.acme.example/size', values: ['small', 'large'], meaning: 'Size. Default: small.' },
  internal: { name: 'lb.acme.example/internal', values: 'boolean', meaning: 'No public address.', orDefault: true },
  weight: { name: 'lb.acme.example/weight', values: 'integer', range: [0, 10], meaning: 'Weight.' },
  any: { name: 'lb.acme.example/any', values: 'integer', meaning: 'Any.' },
  network: {
    name: 'lb.acme.example/network',
    values: 'string',
    form: { name: 'an ID of a network', test: (text) => text.startsWith('net-') },
    meaning: 'Network a|b.',
    dangerous: 'reaches the networks of others',
    maxLength: 20,
  },
  proxy: { name: 'lb.acme.example/proxy', values: 'string', meaning: 'PROXY.', unsupported: 'this region has none' },
  address: { name: 'lb.acme.example/address', values: 'string', meaning: 'The address.', written: true },
});

const failsAs = (code: CloudErrorCode, message: RegExp) => (error: unknown) => {
  assert.ok(isCloudError(error, code), String(error));
  assert.match(error.message, message);
  return true;
};

test('annotations are read by their rows, with their types', () => {
  const { any, internal, network, size, weight, ...rest } = table.read({
    'lb.acme.example/size': 'large',
    'lb.acme.example/internal': 'false',
    'lb.acme.example/weight': '7',
    'lb.acme.example/any': '-3',
    'lb.acme.example/network': 'net-1',
    'lb.acme.example/proxy': '',
    'lb.acme.example/address': 'written by somebody else',
    'another.example/size': 'huge',
  });
  const typed: readonly ['small' | 'large' | undefined, boolean | undefined, number | undefined, string | undefined] = [
    size,
    internal,
    weight,
    network,
  ];
  assert.deepEqual([...typed, any, rest], ['large', false, 7, 'net-1', -3, { proxy: undefined, address: undefined }]);
});

test('what is none is refused with name and value, or read over with a warning where the row says so', () => {
  const refused: readonly (readonly [key: string, value: string, code: CloudErrorCode, message: RegExp])[] = [
    ['size', 'huge', 'invalid', /^annotation lb\.acme\.example\/size: "huge" is not one of small, large$/],
    ['weight', '11', 'invalid', /"11" is not a whole number from 0 to 10/],
    ['weight', '1e1', 'invalid', /is not a whole number/],
    ['any', 'x', 'invalid', /"x" is not a whole number$/],
    ['network', 'dmz', 'invalid', /"dmz" is not an ID of a network/],
    ['network', `net-${'x'.repeat(20)}`, 'invalid', /is too long: shorten it to at most 20/],
    ['proxy', 'v2', 'unsupported', /"v2": this region has none/],
  ];
  for (const [key, value, code, message] of refused) {
    assert.throws(() => table.read({ [`lb.acme.example/${key}`]: value }), failsAs(code, message));
  }
  const warned: LoadBalancerWarning[] = [];
  const read = table.read({ 'lb.acme.example/internal': 'yes' }, (one) => void warned.push(one));
  assert.equal(read.internal, undefined);
  assert.deepEqual(warned, [
    {
      reason: 'LoadBalancerAnnotationIgnored',
      message: 'annotation lb.acme.example/internal is ignored, and the default taken: "yes" is not true or false',
    },
  ]);
  assert.equal(table.read({ 'lb.acme.example/internal': 'yes' }).internal, undefined);
  assert.throws(
    () => table.refuse('network', 'net-1', 'not with UDP'),
    failsAs('invalid', /network: "net-1": not with UDP/),
  );
});

test('what the contract is told, and the page, are the same rows', () => {
  assert.deepEqual(table.declared.at(-2), {
    name: 'lb.acme.example/network',
    description: 'Network a|b.',
    values: 'string',
    dangerous: 'reaches the networks of others',
    maxLength: 20,
  });
  assert.deepEqual(
    table.declared.map(({ name }) => name.split('/')[1]),
    ['size', 'internal', 'weight', 'any', 'network', 'proxy'],
  );
  assert.equal(
    table.page,
    `| Annotation | Values | Meaning |
|---|---|---|
| \`lb.acme.example/size\` | one of small, large | Size. Default: small. |
| \`lb.acme.example/internal\` | true or false | No public address. |
| \`lb.acme.example/weight\` | a whole number from 0 to 10 | Weight. |
| \`lb.acme.example/any\` | a whole number | Any. |
| \`lb.acme.example/network\` | an ID of a network | Network a\\|b. Dangerous: who may write it reaches the networks of others, where nothing holds it back. |
| \`lb.acme.example/proxy\` | text | PROXY. Refused: this region has none. |
| \`lb.acme.example/address\` | text | The address. Written by the provider, and not read. |
`,
  );
});

test('of a value that is more than it may be the limit is told, and not the text', () => {
  const isTooLarge = (text: string): boolean => text.split(',').length > 2;
  const form = { name: 'a list of at most 2', test: (text: string) => !isTooLarge(text), isTooLarge };
  const list = annotationTable({ list: { name: 'lb.acme.example/list', values: 'string', meaning: '', form } });
  const message = 'annotation lb.acme.example/list: the value is not a list of at most 2';
  assert.throws(() => list.read({ 'lb.acme.example/list': 'a,b,c' }), { code: 'invalid', message });
  const refusal = { code: 'invalid', message: 'annotation lb.acme.example/list: at most 40' };
  assert.throws(() => list.refuse('list', undefined, 'at most 40'), refusal);
});
