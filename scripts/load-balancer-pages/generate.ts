/** What the providers that are shipped declare of their load balancers. */
import { EventEmitter } from 'node:events';
import { loadBalancerFeaturesPage, main } from '@outrigger/cloud-controller-manager';
import { openProvider } from '@outrigger/cloud-runtime';
import { silentLogger, systemClock, systemRandom } from '@outrigger/kube';
import { createMemoryProvider } from '@outrigger/provider-memory';

const providers = { memory: createMemoryProvider };

export async function featuresPage(): Promise<string> {
  const declared = [];
  for (const [name, create] of Object.entries(providers)) {
    const cluster = { id: '', name: '' };
    await using opened = await openProvider(create(), {
      cluster,
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
