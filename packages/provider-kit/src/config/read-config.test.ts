import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isCloudError } from '@outrigger/cloud-provider';
import * as fc from 'fast-check';
import { named, optional, required, secret, unused } from './config-schema.ts';
import { configTable } from './config-table.ts';
import { readConfig, type ReadConfigOptions } from './read-config.ts';
import { bool, cidr, duration, listOf, oneOf, text, thumbprint, url, wholeNumber } from './value-kinds.ts';

const schema = {
  global: {
    authUrl: required(url, 'Root of the API'),
    token: secret(required(text, 'Token of the account')),
    insecureFlag: optional(bool, 'Checks no certificate', false),
    timeout: optional(duration, 'For one request', 30_000),
    retries: optional(wholeNumber(0, 10), 'Tries'),
    zones: optional(listOf(text), 'Zones | all', ['z1']),
  },
  loadBalancer: {
    size: optional(oneOf('small', 'large'), 'Size', 'small'),
    keys: secret(optional(listOf(text), 'Keys', [])),
  },
  virtualCenter: named(
    { server: optional(text, 'Name'), port: optional(wholeNumber(1, 65_535), 'Port', 443) },
    'One each',
  ),
};

function read(
  textOf: string,
  options: Partial<ReadConfigOptions> = {},
): {
  readonly config: ReturnType<typeof readConfig<typeof schema>>;
  readonly secrets: string[];
} {
  const secrets: string[] = [];
  const config = readConfig(
    schema,
    { fileName: 'cloud.conf', text: textOf },
    {
      provider: 'acme',
      host: { redact: (one) => void secrets.push(one) },
      ...options,
    },
  );
  return { config, secrets };
}

const GCFG = `[Global]
auth-url = https://acme.example/v2/
token = hunter2
insecure-flag
timeout = 1m30s
zones = a, b
zones = c
[LoadBalancer]
size = small
size = large
[VirtualCenter "one"]
server = one.example
[VirtualCenter "Two"]
port = 8443
`;
const YAML = `global:
  authUrl: https://acme.example/v2/
  token: hunter2
  insecureFlag: true
  timeout: 1m30s
  zones: [a, b, c]
loadBalancer: { size: large }
virtualCenter:
  one: { server: one.example }
  Two: &two
    port: 8443
`;
const JSON_TEXT = JSON.stringify({
  global: {
    authUrl: 'https://acme.example/v2',
    token: 'hunter2',
    insecureFlag: true,
    timeout: '90s',
    zones: ['a', 'b,c'],
  },
  loadBalancer: { size: 'large', keys: [] },
  virtualCenter: { one: { server: 'one.example' }, Two: { port: 8443 } },
});

for (const [name, format, textOf] of [
  ['gcfg', 'gcfg', GCFG],
  ['YAML', 'yaml', YAML],
  ['JSON', 'yaml', JSON_TEXT],
] as const) {
  test(`one schema reads ${name}, and secrets are told to the host`, () => {
    const { config, secrets } = read(textOf, { format });
    const { authUrl, insecureFlag, retries, timeout, token, zones } = config.global;
    assert.deepEqual(
      [authUrl, token, insecureFlag, timeout, retries, zones],
      ['https://acme.example/v2', 'hunter2', true, 90_000, undefined, ['a', 'b', 'c']],
    );
    assert.deepEqual(config.loadBalancer, { size: 'large', keys: [] });
    assert.deepEqual(
      [...config.virtualCenter],
      [
        ['one', { server: 'one.example', port: 443 }],
        ['Two', { server: undefined, port: 8443 }],
      ],
    );
    assert.deepEqual(secrets, ['hunter2']);
  });
}

const base = 'global: { authUrl: https://a.example, token: t }\n';
const wrong: readonly (readonly [text: string, message: string, format?: 'gcfg'])[] = [
  ['', 'cloud.conf:1: global.authUrl is needed: Root of the API'],
  ['global:\n  token: t\n', 'cloud.conf:2: global.authUrl is needed: Root of the API'],
  ['global:\n  token: t\n  authUrl:\n', 'cloud.conf:3: global.authUrl is needed: Root of the API'],
  ['[Global]\ntoken = t\n', 'cloud.conf:1: global.authUrl is needed: Root of the API', 'gcfg'],
  ['global: 7', 'cloud.conf:1: global must be a map of keys'],
  ['[1, 2]', 'cloud.conf:1: the file must be a map of keys'],
  [
    'global:\n  auth_url: ftp://a\n',
    'cloud.conf:2: global.authUrl must be an http:// or https:// URL without user and password, not "ftp://a"',
  ],
  ['global:\n  authUrl: https://a\n  token: [hunter2]\n', 'cloud.conf:3: global.token must be text'],
  [`${base}loadBalancer:\n  size: huge\n`, 'cloud.conf:3: loadBalancer.size must be one of small, large, not "huge"'],
  [
    `${base}loadBalancer:\n  size: [small]\n`,
    'cloud.conf:3: loadBalancer.size must be one of small, large, not a list or a map',
  ],
  [
    `${base}loadBalancer:\n  size: { a: 1 }\n`,
    'cloud.conf:3: loadBalancer.size must be one of small, large, not a list or a map',
  ],
  [`${base}loadBalancer:\n  size: small\n  Size: small\n`, 'cloud.conf:4: loadBalancer.Size is set twice'],
  [`${base}\nmoon:\n  a: 1\n`, 'cloud.conf:4: moon: there is no such key'],
  [
    `${base}loadBalancer:\n  sise: small\n`,
    'cloud.conf:3: loadBalancer.sise: there is no such key (did you mean size?)',
  ],
  [
    '[Global]\nauthurll = https://a\n',
    'cloud.conf:2: global.authurll: there is no such key (did you mean auth-url?)',
    'gcfg',
  ],
  [`${base}virtualCenter: 3\n`, 'cloud.conf:2: virtualCenter must be a map of names'],
  [
    `${base}virtualCenter:\n  a: { port: 70000 }\n`,
    'cloud.conf:3: virtualCenter.a.port must be a whole number from 1 to 65535, not 70000',
  ],
  ['global:\n  token: hunter2: x\n', 'cloud.conf:2: this is no YAML or JSON (BLOCK_AS_IMPLICIT_KEY)'],
  [`a: &a [${'1,'.repeat(2000)}]\nb: [${'*a,'.repeat(2000)}]\n`, 'cloud.conf:1: this is too large'],
  ['a: &a [*a]\n', 'cloud.conf:1: this is nested too deep'],
  [
    '[Global]\nauth-url = https://a\ntoken = t\nretries = eleven\n',
    'cloud.conf:4: global.retries must be a whole number from 0 to 10, not "eleven"',
    'gcfg',
  ],
  [
    '[Global]\nauth-url = https://a\ntoken = t\ntimeout = 5\n',
    'cloud.conf:4: global.timeout must be a duration with its unit, such as 5s or 1m30s, not "5"',
    'gcfg',
  ],
  [
    '[Global]\nauth-url = https://a\ntoken = t\ninsecure-flag = maybe\n',
    'cloud.conf:4: global.insecureFlag must be true or false, not "maybe"',
    'gcfg',
  ],
  ['[Global]\ntoken = "hunter2', 'cloud.conf:2: the value has no closing quote', 'gcfg'],
];

for (const [textOf, message, format] of wrong) {
  test(`refuses ${JSON.stringify(textOf.slice(-40))} with file, line and key`, () => {
    assert.throws(
      () => read(textOf, format ? { format } : {}),
      (error) => {
        assert.ok(isCloudError(error, 'configuration'));
        assert.equal(error.message, message);
        return true;
      },
    );
  });
}

test('without a file it is said which flag names one; unknown keys are read over where a provider says so', () => {
  assert.throws(() => readConfig(schema, undefined, { provider: 'acme' }), /the provider acme needs .*--cloud-config/);
  const warned: string[] = [];
  const { config } = read(`${base}moon: 1\n`, { warn: (line) => void warned.push(line) });
  assert.deepEqual(warned, ['cloud.conf:2: moon: there is no such key; it is ignored']);
  assert.equal(config.loadBalancer.size, 'small');
  assert.equal(config.virtualCenter.size, 0);
});

test('numbers, booleans and texts are read from whichever of them the file has', () => {
  const { config } = read(
    `global: { authUrl: https://a.example, token: 77, retries: 3, insecureFlag: no }\nvirtualCenter: { a: }\n`,
  );
  assert.deepEqual([config.global.token, config.global.retries, config.global.insecureFlag], ['77', 3, false]);
  assert.deepEqual([...config.virtualCenter.keys()], ['a']);
  for (const value of ['on', 'YES', '1', true]) assert.equal(bool.read(value), true);
  for (const value of ['off', 'No', '0', false]) assert.equal(bool.read(value), false);
  assert.deepEqual(
    [wholeNumber(0).read('1e3'), wholeNumber(0).read(1.5), wholeNumber(0).name],
    [undefined, undefined, 'a whole number from 0'],
  );
  for (const value of ['https://u:p@a.example', 'a.example', 7]) assert.equal(url.read(value), undefined);
  assert.equal(listOf(wholeNumber(1)).read('1, 2,x'), undefined);
});

test('a text that YAML takes for a number or a boolean stays as it is written', () => {
  for (const written of ['0123', '1e5', '0x10', 'true', '1.50']) {
    const { config, secrets } = read(`global: { authUrl: 'https://a', token: ${written}, zones: [${written}, b] }`);
    assert.deepEqual([config.global.token, config.global.zones, secrets], [written, [written, 'b'], [written]]);
  }
});

test('property: whatever the text is, it is read, or refused in one line with the file', () => {
  const piece = fc.constantFrom(
    'global',
    ':',
    '\n',
    '  ',
    'token',
    ' hunter2',
    '[',
    ']',
    '"',
    '=',
    '{',
    '}',
    '&a ',
    '*a ',
    '- ',
    'authUrl',
    'https://a.b',
    ',',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 30 }),
      fc.constantFrom('yaml' as const, 'gcfg' as const),
      (pieces, format) => {
        try {
          read(pieces.join(''), { format });
        } catch (error) {
          assert.ok(isCloudError(error, 'configuration'), String(error));
          assert.match(error.message, /^cloud\.conf:\d+: [^\n]+$/);
        }
      },
    ),
    { numRuns: 500 },
  );
});

test('property: whatever stands where a secret does, no refusal shows it', () => {
  const hidden = { global: { token: secret(required(oneOf('a'), 'Token')) } };
  const piece = fc.constantFrom(
    'hunter2',
    ' ',
    '[',
    ']',
    '{',
    '}',
    '"',
    "'",
    ':',
    ',',
    '&a ',
    '*a ',
    '- ',
    '!a ',
    '\\',
  );
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 8 }),
      fc.constantFrom('yaml' as const, 'gcfg' as const),
      (pieces, format) => {
        const value = `${pieces.join('')}hunter2`;
        const textOf = format === 'gcfg' ? `[Global]\ntoken = ${value}` : `global:\n  token: ${value}\n`;
        assert.throws(
          () => readConfig(hidden, { fileName: 'cloud.conf', text: textOf }, { provider: 'acme', format }),
          (error) => isCloudError(error, 'configuration') && !error.message.includes('hunter2'),
        );
      },
    ),
    { numRuns: 500 },
  );
});

test('keys and sections of other programs are told in one line where they are set', () => {
  const schemaOf = {
    global: { server: optional(text, 'Name'), datastore: unused('the CSI driver looks after volumes') },
    each: named({ retries: unused('there are none') }, 'One each'),
    network: unused('there is none'),
    disk: unused('there is none'),
  };
  const warnings: string[] = [];
  const common = { provider: 'acme', warn: (one: string) => void warnings.push(one) };
  const file = (textOf: string): { readonly fileName: string; readonly text: string } => ({
    fileName: 'cloud.conf',
    text: textOf,
  });
  readConfig(schemaOf, file('global: {server: a}\n'), common);
  assert.deepEqual(warnings, []);
  const all = 'global: {server: a, datastore: [b]}\neach: {one: {retries: 3}}\nnetwork: {a: {b: c}}\ndisk:\n';
  assert.equal(readConfig(schemaOf, file(all), common).global.server, 'a');
  assert.deepEqual(warnings, ['cloud.conf: without effect here: global.datastore, each.one.retries, network']);
  readConfig(schemaOf, file('[Network]\npublic = "VM Network"\n'), { ...common, format: 'gcfg' });
  assert.equal(warnings[1], 'cloud.conf: without effect here: network');
});

test('CIDRs and fingerprints of certificates', () => {
  assert.deepEqual(
    ['10.0.0.0/8', 'fd00::/8', '10.0.0.0', 10].map((one) => cidr.read(one)?.text),
    ['10.0.0.0/8', 'fd00::/8', undefined, undefined],
  );
  const sha1 = 'aabbccddeeff00112233445566778899aabbccdd';
  assert.equal(thumbprint.read(sha1), 'AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD');
  assert.equal(thumbprint.read(thumbprint.read(sha1)), thumbprint.read(sha1));
  assert.equal(thumbprint.read('ab'.repeat(32))?.length, 95);
  assert.deepEqual([sha1.slice(1), `${sha1}ab`, 'x'.repeat(40), 7].map(thumbprint.read), Array(4).fill(undefined));
});

test('the table of keys is the schema’s', () => {
  assert.equal(
    configTable(schema),
    `| Key | Value | Default | Meaning |
|---|---|---|---|
| \`global.authUrl\` | an http:// or https:// URL without user and password | needed | Root of the API |
| \`global.token\` | text; secret | needed | Token of the account |
| \`global.insecureFlag\` | true or false | \`false\` | Checks no certificate |
| \`global.timeout\` | a duration with its unit, such as 5s or 1m30s | \`30000\` | For one request |
| \`global.retries\` | a whole number from 0 to 10 |  | Tries |
| \`global.zones\` | a list: text | \`["z1"]\` | Zones \\| all |
| \`loadBalancer.size\` | one of small, large | \`"small"\` | Size |
| \`loadBalancer.keys\` | a list: text; secret |  | Keys |
| \`virtualCenter.<name>\` | a section |  | One each |
| \`virtualCenter.<name>.server\` | text |  | Name |
| \`virtualCenter.<name>.port\` | a whole number from 1 to 65535 | \`443\` | Port |
`,
  );
});
