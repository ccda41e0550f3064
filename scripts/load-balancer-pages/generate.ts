/** What the providers that are shipped declare of their load balancers. */
import { EventEmitter } from 'node:events';
import { defaultCommands, loadBalancerFeaturesPage, main } from '@outrigger/cloud-controller-manager';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock, systemRandom } from '@outrigger/kube';
import { createMemoryProvider } from '@outrigger/provider-memory';
import { createOpenStackProvider } from '@outrigger/provider-openstack';

/** What is deployed as it is generated; of another cloud it depends on the cloud config. */
const providers = { memory: createMemoryProvider };

/** As much as is needed to say what it can do. */
const cloudConf = { text: '[Global]\nauth-url = http://keystone.test\ntoken = none', fileName: 'cloud.conf' };
const shown = [
  { name: 'memory', provider: createMemoryProvider, config: undefined },
  { name: 'openstack', provider: createOpenStackProvider, config: cloudConf },
] as const;

export async function featuresPage(): Promise<string> {
  const declared = [];
  for (const { name, provider, config } of shown) {
    const cluster = { id: '', name: '' };
    await using opened = await openProvider(provider(), {
      cluster,
      config,
      clock: systemClock,
      logger: silentLogger,
      random: systemRandom,
    });
    const { loadBalancers } = opened.capabilities;
    if (loadBalancers) declared.push({ name, loadBalancers });
  }
  return loadBalancerFeaturesPage(declared);
}

/** As `outrigger admission-policy` prints it. */
export function admissionPolicy(): Promise<string> {
  return printed('admission-policy');
}

/** As `outrigger service-webhook` prints it. */
export function serviceWebhook(): Promise<string> {
  return printed('service-webhook');
}

async function printed(command: string): Promise<string> {
  let [text, errors] = ['', ''];
  for (const [name, create] of Object.entries(providers)) {
    const code = await main([command, `--cloud-provider=${name}`], {
      commands: defaultCommands,
      program: 'outrigger',
      builtInProviders: { [name]: () => Promise.resolve({ default: () => create() }) },
      env: {},
      stdout: { write: (more) => void (text += more) },
      stderr: { write: (more) => void (errors += more) },
      signals: new EventEmitter(),
      exit: () => {},
      workingDirectory: import.meta.dirname,
      hostname: '',
    });
    if (code !== 0) throw new Error(errors);
  }
  return text;
}
