/** The bundled program with `--cloud-provider=aws`, beside an API server and an AWS account in memory, all on 127.0.0.1. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Client } from '@outrigger/kube';
import { clientOf, startEmbeddedApiServer } from '@outrigger/testing';
import type { FakeAws } from '../../providers/aws/fake/fake-aws.ts';
import { buildProgram } from '../../scripts/build-program.ts';
import { Manager } from '../manager.ts';
import { setEnv } from '../set-env.ts';

export interface BundledProgramOptions {
  /** The text of the cloud config, by where the account listens. */
  readonly config: (endpoint: string) => string;
  /** The program's variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Beside those that say where everything is. */
  readonly flags: readonly string[];
}

export interface BundledProgram {
  readonly client: Client;
  /** Of the API server. */
  readonly store: Awaited<ReturnType<typeof startEmbeddedApiServer>>['store'];
  /** Not started. */
  readonly manager: Manager;
  /** The file of its log. */
  readonly log: string;
  readonly readLog: () => Promise<string>;
}

/** Ends with the test. */
export async function bundledProgram(
  t: TestContext,
  aws: FakeAws,
  { config: configOf, env, flags }: BundledProgramOptions,
): Promise<BundledProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'aws-program-'));
  const at = (name: string): string => join(directory, name);
  const [config, kubeconfig, log] = [at('aws.conf'), at('kubeconfig'), at('log')];
  const cloud = await aws.listen();
  const server = await startEmbeddedApiServer();
  await writeFile(config, configOf(cloud.endpoint), { mode: 0o600 });
  await writeFile(kubeconfig, server.kubeconfig().yaml, { mode: 0o600 });
  const client = await clientOf(kubeconfig);
  setEnv(t, { ...env, AWS_CONFIG_FILE: '/nowhere', AWS_SHARED_CREDENTIALS_FILE: '/nowhere' });
  const manager = new Manager(
    [
      '--cloud-provider=aws',
      `--cloud-config=${config}`,
      `--kubeconfig=${kubeconfig}`,
      '--leader-elect=false',
      '--secure-port=0',
      ...flags,
    ],
    log,
    1,
    (await buildProgram(directory, false)).bundle,
  );
  t.after(async () => {
    for (const one of [manager, client, server, cloud]) await one[Symbol.asyncDispose]();
    await rm(directory, { recursive: true });
  });
  return { client, store: server.store, manager, log, readLog: () => readFile(log, 'utf8') };
}
