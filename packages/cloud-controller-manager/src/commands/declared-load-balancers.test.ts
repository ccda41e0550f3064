import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CloudProvider, LoadBalancers } from '@outrigger/cloud-provider';
import { runMain } from '../program/run-main.suite.ts';

const features = {
  protocols: ['TCP'],
  mixedProtocols: false,
  ipFamilies: ['IPv4'],
  dualStack: false,
  sessionAffinity: true,
  externalTrafficPolicyLocal: true,
  sourceRanges: true,
  withoutNodePorts: true,
  requestedIP: true,
};

function provider(loadBalancers: object | undefined): CloudProvider {
  const methods = { observe: () => {}, plan: () => {}, apply: () => {}, listOwned: () => {} };
  const declared = loadBalancers && ({ batchSize: 1, annotations: [], ...methods, ...loadBalancers } as unknown);
  return {
    name: 'green',
    open: () => Promise.resolve(declared ? { loadBalancers: declared as LoadBalancers } : {}),
    close: () => Promise.resolve(),
  };
}

async function run(given: CloudProvider, ...args: string[]): Promise<readonly [number, string, string]> {
  return command('admission-policy', given, ...args);
}

async function command(
  name: string,
  given: CloudProvider,
  ...args: string[]
): Promise<readonly [number, string, string]> {
  const { code, stderr, stdout } = await runMain([name, ...args], {
    builtInProviders: { green: () => Promise.resolve({ default: () => given }) },
  });
  return [code, stdout, stderr];
}

test('it prints the policy and its binding for what the provider declares', async () => {
  const green = provider({ features, classes: ['green.example/lb'] });
  const [code, yaml, errors] = await run(green, '--cloud-provider=green', '--action=Warn', '--default-provider=false');
  assert.deepEqual([code, errors], [0, '']);
  assert.match(yaml, /^kind: ValidatingAdmissionPolicy$/mu);
  assert.match(yaml, /^kind: ValidatingAdmissionPolicyBinding$/mu);
  assert.match(yaml, /does not serve protocol UDP/u);
  assert.doesNotMatch(yaml, /does not serve protocol TCP|sessionAffinity: ClientIP/u);
  assert.match(yaml, /green\.example\/lb.*: false/u);
  assert.match(yaml, /validationActions: \[Warn\]/u);
});

test('with trusted namespaces, it prints a second policy for what the provider marks as dangerous', async () => {
  const annotations = [
    { name: 'green.example/lb-id', description: '', values: 'string', dangerous: 'uses the load balancer of others' },
    { name: 'green.example/timeout', description: '', values: 'integer' },
  ];
  const green = provider({ features, annotations, classes: ['green.example/lb'] });
  const [, all] = await run(green, '--cloud-provider=green', '--action=Warn');
  const trusted = '--trusted-service-namespaces=ingress,team-a';
  const [code, yaml, errors] = await run(green, '--cloud-provider=green', '--action=Warn', trusted);
  assert.deepEqual([code, errors], [0, '']);
  assert.ok(yaml.startsWith(all), 'the first policy is the same');
  const more = yaml.slice(all.length);
  assert.match(more, /^kind: ValidatingAdmissionPolicy$/mu);
  assert.match(more, /^kind: ValidatingAdmissionPolicyBinding$/mu);
  assert.match(more, /named-things\.green\.outrigger\.dev/u);
  assert.match(more, /request\.namespace in \[\\?"ingress\\?", \\?"team-a\\?"\]/u);
  assert.match(more, /green\.example\/lb-id, which uses the load balancer of others/u);
  assert.match(more, /may not have loadBalancerIP/u);
  assert.doesNotMatch(more, /timeout/u);
  assert.match(more, /validationActions: \[Warn\]/u);
  assert.doesNotMatch(all, /named-things/u);
});

test('what stands in the way is one line', async () => {
  for (const [given, args, message] of [
    [provider(undefined), [], '--cloud-provider is not set: name the provider'],
    [provider(undefined), ['--cloud-provider=green'], 'the provider green has no load balancers'],
    [provider({ features }), ['--cloud-provider=green,green'], '--cloud-provider=green,green: name one provider'],
    [
      provider({ features }),
      ['--cloud-provider=green', '--cloud-config=none.json'],
      '--cloud-config=none.json: there is no such file',
    ],
  ] as const) {
    assert.deepEqual(await run(given, ...args), [1, '', `outrigger admission-policy: ${message}\n`]);
  }
});

test('it prints the webhook of a provider whose cloud has something to say, and of no other', async () => {
  const asks = provider({ features, classes: ['green.example/lb'], validate: () => Promise.resolve({}) });
  const [code, yaml, errors] = await command('service-webhook', asks, '--cloud-provider=green');
  assert.deepEqual([code, errors], [0, '']);
  assert.match(yaml, /^kind: Service$/mu);
  assert.match(yaml, /^kind: ValidatingWebhookConfiguration$/mu);
  assert.match(yaml, /green\.example\/lb.*: true/u);
  const silent = provider({ features, classes: [] });
  assert.deepEqual(await command('service-webhook', silent, '--cloud-provider=green'), [
    1,
    '',
    'outrigger service-webhook: the provider green checks nothing before a Service is stored: no webhook is needed\n',
  ]);
});
