import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { imageCredentialsFiles } from './deploy-files.ts';
import { INSTALLED_NAMES } from './install.ts';

const repository = new URL('../../../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', repository), 'utf8')) as {
  readonly version: string;
};
const files = imageCredentialsFiles(version);

test('what is shipped is what is generated, and nothing else (else: node scripts/deploy-manifests.ts)', () => {
  const folder = new URL('deploy/image-credentials/', repository);
  const there = readdirSync(folder).map((name) => `image-credentials/${name}`);
  assert.deepEqual(there.toSorted(), [...files.keys()].toSorted());
  for (const [path, expected] of files) {
    assert.equal(readFileSync(new URL(`deploy/${path}`, repository), 'utf8'), expected, path);
  }
});

interface ProviderConfig {
  readonly providers: readonly {
    readonly name: string;
    readonly args: readonly string[];
    readonly tokenAttributes?: { readonly serviceAccountTokenAudience: string };
  }[];
}

test('each configuration calls a name that is installed, and each audience is one that kubelets may ask for', () => {
  const roles = parseAllDocuments(files.get('image-credentials/audiences.yml') ?? '').map(
    (one) => one.toJS() as { readonly rules?: readonly { readonly resources: readonly string[] }[] },
  );
  const allowed = roles.flatMap(({ rules = [] }) => rules.flatMap(({ resources }) => resources));
  for (const name of ['acr', 'ecr', 'gcr', 'generic']) {
    for (const file of [`${name}.yml`, `${name}-service-accounts.yml`]) {
      const { providers } = parse(files.get(`image-credentials/${file}`) ?? '') as ProviderConfig;
      assert.equal(providers.length, 1);
      assert.deepEqual(providers[0]?.args, [name]);
      assert.ok(INSTALLED_NAMES.includes(providers[0]?.name ?? ''), file);
      const audience = providers[0]?.tokenAttributes?.serviceAccountTokenAudience;
      assert.equal(audience !== undefined, file.includes('service-accounts'));
      if (audience !== undefined) assert.ok(allowed.includes(audience), audience);
    }
  }
});
