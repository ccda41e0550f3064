import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CloudError, type Capabilities, type CloudProvider } from '@outrigger/cloud-provider';
import { runMain, type Outcome } from '../program/run-main.suite.ts';
import { withDirectory } from './with-directory.suite.ts';

type Instances = NonNullable<Capabilities['instances']>;

const instances: Instances = {
  lookUp: (nodes, _need, call) =>
    call.call({ name: 'GET /servers' }, () =>
      Promise.resolve(nodes.map(() => ({ asOf: 0, result: { kind: 'missing' as const } }))),
    ),
  read: () => Promise.reject(new Error('not asked for here')),
};

async function validate(
  open: CloudProvider['open'],
  files: Readonly<Record<string, string>>,
  ...args: string[]
): Promise<Outcome> {
  const provider: CloudProvider = { name: 'third', open, close: () => Promise.resolve() };
  const builtInProviders = { third: () => Promise.resolve({ default: () => provider }) };
  return await withDirectory(files, (workingDirectory) =>
    runMain(['config', 'validate', ...args], { builtInProviders, workingDirectory }),
  );
}

test('what is valid is said of each capability, and the code is 0', async () => {
  const { code, stderr, stdout } = await validate(() => Promise.resolve({ instances }), {}, '--cloud-provider=third');
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(
    stdout,
    /^flags and configuration files: valid\nprovider third: opened\nprovider third: instances: answered in \S+\n$/u,
  );
});

test('what the provider warns of as it reads its config is said, once, and refuses nothing', async () => {
  const warning = 'cloud.conf:2: [Global] regoin: there is no such key; it is ignored';
  const open: CloudProvider['open'] = ({ logger }) => {
    for (let times = 0; times < 2; times++) logger.warn(warning);
    logger.warn('The cloud cannot be reached yet', { error: new Error('down') });
    return Promise.resolve({ instances });
  };
  const { code, stdout } = await validate(open, {}, '--cloud-provider=third');
  assert.equal(code, 0);
  const [, second = '', third = ''] = stdout.split('\n');
  assert.equal(second, `provider third: warning: ${warning}`);
  assert.equal(third, 'provider third: opened', 'what fails is found out by the reads');
});

test('what the provider warns of before it fails is said too: it may be why', async () => {
  const warning = 'cloud.conf:2: [Global] regoin: there is no such key; it is ignored';
  const open: CloudProvider['open'] = ({ logger }) => {
    logger.warn(warning);
    return Promise.reject(new CloudError('configuration', '[Global] region is missing'));
  };
  const { code, stdout } = await validate(open, {}, '--cloud-provider=third');
  assert.equal(code, 1);
  const [, second = '', third = ''] = stdout.split('\n');
  assert.equal(second, `provider third: warning: ${warning}`);
  assert.match(third, /^provider third: not opened: \[Global\] region is missing/u);
});

test('refused credentials are found out, and what to do about them', async () => {
  const refused = new CloudError('unauthenticated', 'the cloud does not take the token');
  const lazy = await validate(
    () => Promise.resolve({ instances: { ...instances, lookUp: () => Promise.reject(refused) } }),
    {},
    '--cloud-provider=third',
  );
  assert.equal(lazy.code, 1);
  assert.match(
    lazy.stdout,
    /^provider third: instances: the cloud does not take the token \(unauthenticated\); correct the credentials in the cloud config$/mu,
  );
  const eager = await validate(() => Promise.reject(refused), {}, '--cloud-provider=third');
  assert.equal(eager.code, 1);
  assert.match(eager.stdout, /^provider third: not opened: the cloud does not take the token \(unauthenticated\)/mu);
});

test('a cloud that gives no answer is waited for as long as --cloud-timeout says', async () => {
  const { code, stdout } = await validate(
    () => new Promise(() => {}),
    {},
    '--cloud-provider=third',
    '--cloud-timeout=50ms',
  );
  assert.equal(code, 1);
  assert.match(stdout, /^provider third: not opened: .*50 ?ms/mu);
});

test('flags and files are those of the program, and refused in its words', async () => {
  const open = (): Promise<Capabilities> => Promise.resolve({});
  const config =
    'apiVersion: cloudcontrollermanager.config.k8s.io/v1alpha1\nkind: CloudControllerManagerConfiguration\n';
  const named = 'kubeCloudShared:\n  cloudProvider:\n    name: third\n';
  const good = await validate(open, { 'c.yaml': `${config}${named}` }, '--config=c.yaml');
  assert.deepEqual([good.code, good.stderr], [0, '']);
  for (const [args, message] of [
    [['--config=c.yaml'], /c\.yaml:3: kubeCloudShred: unknown key/u],
    [[], /--cloud-provider is not set/u],
    [['--cloud-provider=third', '--cloud-config=none'], /--cloud-config=none: there is no such file/u],
    [['--cloud-provider=third', '--controllers=nod'], /no controller "nod"/u],
  ] as const) {
    const { code, stderr, stdout } = await validate(open, { 'c.yaml': `${config}kubeCloudShred: {}\n` }, ...args);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, message);
    assert.match(stderr, /^outrigger config: [^\n]+\n$/u);
  }
});
