import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestAuthority, type IssueOptions } from '../../controller-manager/src/access/test-authority.suite.ts';
import type { ServedCertificate, WebhookConfiguration } from './cluster-facts.ts';
import type { Problem, WebhookStatus } from './cluster-status.ts';
import { serverNameOf, webhooksOf } from './judge-webhooks.ts';

const AT = Date.parse('2026-11-23T10:00:00Z');
const DAY_MS = 86_400_000;
const NAME = 'ccm.kube-system.svc';
const ABOUT = 'The certificate that Pod kube-system/a serves for service.outrigger.dev';

function timeOf(day: number): string {
  return new Date(AT + day * DAY_MS).toISOString();
}

/** For a year, and until so many days from now. */
function until(days: number, life = 365): Pick<IssueOptions, 'valid'> {
  return { valid: [AT + (days - life) * DAY_MS, AT + days * DAY_MS] };
}

function server(authority: TestAuthority, days: number, options: IssueOptions = {}): Promise<TestAuthority> {
  return authority.issue('CN=ccm', { usage: 'server', names: [NAME], ...until(days), ...options });
}

interface Judged {
  readonly problems: readonly Problem[];
  readonly told: readonly string[];
  readonly status: WebhookStatus;
}

/** `trusted`: PEM in caBundle. */
function judge(
  trusted: readonly string[],
  served: readonly ServedCertificate[] = [],
  failurePolicy?: 'Fail' | 'Ignore',
): Judged {
  const caBundle = Buffer.from(trusted.join('\n')).toString('base64');
  const service = { name: 'ccm', namespace: 'kube-system' };
  const webhooks: WebhookConfiguration = {
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'w' },
    webhooks: [
      { name: 'service.outrigger.dev', clientConfig: { caBundle, service }, ...(failurePolicy && { failurePolicy }) },
    ],
  };
  const problems: Problem[] = [];
  const facts = { at: AT, certificates: new Map([[NAME, served]]) };
  const [status] = webhooksOf(webhooks, facts, (problem) => void problems.push(problem));
  assert.ok(status);
  return { problems, told: problems.map(({ message, severity }) => `${severity}: ${message}`), status };
}

function replica(name: string, pem: string): ServedCertificate {
  return { replica: `Pod kube-system/${name}`, pem: { value: pem } };
}

for (const [what, days, expected] of [
  ['one that is valid for long', [100], []],
  [
    'one that expires soon',
    [13],
    ['warning: The certificate authority of the webhook service.outrigger.dev expires: DAY 13 (CN=13).'],
  ],
  [
    'one that has expired',
    [-1],
    ['error: The certificate authority of the webhook service.outrigger.dev has expired: DAY -1 (CN=-1).'],
  ],
  ['one that has expired beside its successor, as in a rotation', [-1, 100], []],
  ['one that expires soon beside its successor', [100, 3], []],
  [
    'two that expire soon',
    [9, -1],
    ['warning: The last of the 2 certificate authorities of the webhook service.outrigger.dev expires: DAY 9 (CN=9).'],
  ],
  [
    'two that have expired',
    [-9, -1],
    [
      'error: The last of the 2 certificate authorities of the webhook service.outrigger.dev has expired: DAY -1 (CN=-1).',
    ],
  ],
] as const) {
  test(`the certificate authorities of a webhook: ${what}`, async () => {
    const authorities = await Promise.all(days.map((one) => TestAuthority.create(`CN=${one}`, until(one))));
    const { status, told } = judge(authorities.map(({ pem }) => pem));
    assert.deepEqual(
      told,
      expected.map((one) => one.replace(/DAY (-?\d+)/u, (_, day) => timeOf(Number(day)))),
    );
    assert.equal(status.authorityExpires, timeOf(Math.max(...days)));
  });
}

test('an authority that cannot be read does not hide one that can, as for the API server', async () => {
  const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
  const { pem } = await TestAuthority.create('CN=ca', until(100));
  assert.deepEqual(judge([broken, pem]).told, []);
  assert.deepEqual(judge([broken]).told.length, 1);
});

for (const [what, make, expected, { trusted = true, named = true } = {}] of [
  ['for long', (ca: TestAuthority) => server(ca, 100), []],
  ['for 13 days of its year', (ca: TestAuthority) => server(ca, 13), [`warning: ${ABOUT} expires: DAY 13 (CN=ccm).`]],
  ['for 3 days of 9, as who renews by itself has it', (ca: TestAuthority) => server(ca, 3, until(3, 9)), []],
  [
    'for 2 days of 9, when it should have been renewed',
    (ca: TestAuthority) => server(ca, 2, until(2, 9)),
    [`warning: ${ABOUT} expires: DAY 2 (CN=ccm).`],
  ],
  ['no more', (ca: TestAuthority) => server(ca, -1), [`error: ${ABOUT} has expired: DAY -1 (CN=ccm).`]],
  [
    'not yet',
    (ca: TestAuthority) => server(ca, 101, until(101, 100)),
    [`error: ${ABOUT} is not valid before DAY 1 (CN=ccm).`],
  ],
  [
    'for another name, whatever its subject is',
    (ca: TestAuthority) => ca.issue(`CN=${NAME}`, { usage: 'server', names: ['ccm.default.svc'], ...until(100) }),
    [`error: ${ABOUT} is not for ${NAME}: the API server refuses it (CN=${NAME}).`],
    { named: false },
  ],
  ['for all names of the namespace', (ca: TestAuthority) => server(ca, 100, { names: ['*.kube-system.svc'] }), []],
  [
    'for clients',
    (ca: TestAuthority) => server(ca, 100, { usage: 'client' }),
    [`error: ${ABOUT} is not signed by an authority in caBundle, for servers: the API server refuses it (CN=ccm).`],
    { trusted: false },
  ],
  [
    'by an authority of the same name that is another one',
    async () => server(await TestAuthority.create('CN=ca', until(200)), 100),
    [`error: ${ABOUT} is not signed by an authority in caBundle, for servers: the API server refuses it (CN=ccm).`],
    { trusted: false },
  ],
] as const) {
  test(`a served certificate that is valid ${what}`, async () => {
    const authority = await TestAuthority.create('CN=ca', until(200));
    const { pem } = await make(authority);
    const { problems, status, told } = judge([authority.pem], [replica('a', pem)]);
    assert.deepEqual(
      told,
      expected.map((one) => one.replace(/DAY (-?\d+)/u, (_, day) => timeOf(Number(day)))),
    );
    for (const { about, remedy, runbook } of problems) {
      assert.deepEqual([about, runbook], ['ValidatingWebhookConfiguration w', 'OutriggerServingCertificateExpires']);
      assert.ok(remedy);
    }
    const [{ certificate } = {}] = status.certificates;
    assert.ok(certificate && 'value' in certificate);
    assert.deepEqual([certificate.value.trusted, certificate.value.named], [trusted, named]);
  });
}

test('an intermediate authority counts where it is served along, or in caBundle by itself', async () => {
  const root = await TestAuthority.create('CN=root', until(200));
  const middle = await root.issue('CN=middle', { ca: true, ...until(150) });
  const { pem } = await server(middle, 100);
  const isTrusted = (trusted: readonly TestAuthority[], served: string): boolean =>
    judge(
      trusted.map((one) => one.pem),
      [replica('a', served)],
    ).told.length === 0;
  assert.ok(isTrusted([root], pem + middle.pem));
  assert.ok(isTrusted([middle], pem));
  assert.ok(!isTrusted([root], pem), 'the chain is broken');
  const expired = await root.issue('CN=middle', { ca: true, ...until(-1) });
  assert.ok(!isTrusted([root], (await server(expired, 100)).pem + expired.pem));
  const noAuthority = await root.issue('CN=middle', { usage: 'server', names: [NAME], ...until(150) });
  assert.ok(!isTrusted([root], (await server(noAuthority, 100)).pem + noAuthority.pem));
});

test('a certificate that signs itself is trusted where it is in caBundle', async () => {
  const options = { ca: false, usage: 'server', names: [NAME], ...until(100) } as const;
  const [mine, other] = [await TestAuthority.create('CN=me', options), await TestAuthority.create('CN=me', options)];
  assert.deepEqual(judge([mine.pem], [replica('a', mine.pem)]).told, []);
  assert.equal(judge([mine.pem], [replica('a', other.pem)]).told.length, 1);
});

test('in a rotation each certificate is told of once, with its replicas; who does not tell is unknown', async () => {
  const authority = await TestAuthority.create('CN=ca', until(200));
  const [old, renewed] = [await server(authority, -1), await server(authority, 90)];
  const { status, told } = judge(
    [authority.pem],
    [
      replica('a', old.pem),
      replica('b', renewed.pem),
      replica('c', old.pem),
      { replica: 'Pod kube-system/d', pem: { unknown: 'refused' } },
      replica('e', 'nothing'),
    ],
  );
  assert.deepEqual(told, [
    `error: The certificate that Pod kube-system/a, Pod kube-system/c serve for service.outrigger.dev has expired: ${timeOf(-1)} (CN=ccm).`,
  ]);
  assert.deepEqual(
    status.certificates.map(({ certificate }) => ('value' in certificate ? certificate.value.expires : certificate)),
    [
      timeOf(-1),
      timeOf(90),
      timeOf(-1),
      { unknown: 'refused' },
      { unknown: 'what Pod kube-system/e serves is no certificate' },
    ],
  );
});

test('where all authorities have expired, or there is none, that alone is told', async () => {
  const authority = await TestAuthority.create('CN=ca', until(-1));
  const { pem } = await server(authority, 100);
  assert.equal(judge([authority.pem], [replica('a', pem)]).told.length, 1);
  assert.equal(judge([], [replica('a', pem)]).told.length, 1);
});

test('the name is that of the Service, or the host of the URL', () => {
  assert.equal(serverNameOf({ service: { name: 'ccm', namespace: 'kube-system' } }), NAME);
  assert.equal(serverNameOf({ url: 'https://[::1]:10260/validate' }), '::1');
  assert.equal(serverNameOf({ url: 'https://ccm.example:10260/validate' }), 'ccm.example');
  assert.equal(serverNameOf({}), '');
});

test('a webhook that calls a Service that does not exist is told of, with what becomes of what it should review', async () => {
  const authority = await TestAuthority.create('CN=ca', until(100));
  const missing = { replica: '', pem: { unknown: 'there is no Service kube-system/ccm' }, isMissing: true } as const;
  const words = 'The webhook service.outrigger.dev calls the Service kube-system/ccm, which does not exist:';
  const refused = `error: ${words} the API server refuses whatever it should review.`;
  assert.deepEqual(judge([authority.pem], [missing]).told, [refused]);
  assert.deepEqual(judge([authority.pem], [missing], 'Fail').told, [refused]);
  assert.deepEqual(judge([authority.pem], [missing], 'Ignore').told, [`warning: ${words} nothing is reviewed.`]);
  const unknown = { replica: '', pem: { unknown: 'not permitted' } };
  assert.deepEqual(judge([authority.pem], [unknown], 'Fail').told, []);
});
