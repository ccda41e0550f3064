/** `outrigger adopt`: asks that a Service takes over what a person, or another program, made for it in the cloud. */
import type { PartName } from '@outrigger/cloud-provider';
import { bool, FlagError, string, strings, type FlagGroup } from '@outrigger/controller-manager';
import { adoptPatch, askedOf, partNameOf } from '@outrigger/controllers';
import {
  createClient,
  createTransport,
  isNotFound,
  loadConfig,
  resources,
  systemClock,
  type ObjectRef,
  type Service,
} from '@outrigger/kube';
import type { Environment } from '../program/environment.ts';
import { defineCommand, type Command } from './command.ts';

interface AdoptOptions {
  kubeconfig: string;
  part: readonly string[];
  yes: boolean;
}

const adoptFlags: FlagGroup<AdoptOptions> = {
  title: 'Adopt',
  flags: {
    part: {
      type: strings,
      default: [],
      usage:
        'KIND/ID of a part, as its provider calls it: address/a-1. Several: a comma between them, or the flag again.',
    },
    yes: {
      type: bool,
      default: false,
      usage: 'Make the request. Without it, what would be requested is only printed.',
    },
    kubeconfig: {
      type: string,
      default: '',
      usage:
        'Path of a kubeconfig file, whose user may patch services/status. Without it: $KUBECONFIG, ~/.kube/config.',
    },
  },
};

export const adoptCommand: Command = defineCommand({
  name: 'adopt',
  summary:
    'Requests that a Service adopts parts of a load balancer that have no owner because they were created by hand or by another program.',
  words: 'service NAMESPACE/NAME',
  flags: [adoptFlags],
  examples: [
    ['What would be requested', 'outrigger adopt service default/web --part=address/address-17'],
    ['Request it', 'outrigger adopt service default/web --part=address/address-17 --yes'],
  ],
  run: async (parsed, environment) => {
    const ref = refOf(parsed.words);
    const { kubeconfig, part, yes } = parsed.of(adoptFlags);
    const parts = part.map(partOf);
    if (parts.length === 0) throw new FlagError('invalid-flag', '--part is missing: name at least one, as KIND/ID');
    const { clock = systemClock, env } = environment;
    const config = await loadConfig({ ...(kubeconfig === '' ? {} : { kubeconfig }), env, clock });
    await using transport = createTransport(config, { clock });
    const services = createClient(transport).of(resources.services);
    const service = await existing(services.get(ref), ref);
    checkService(service, ref);
    say(environment, service, parts, yes);
    if (yes)
      await existing(services.patch(ref, adoptPatch(service, parts, clock.now()), { subresource: 'status' }), ref);
    return 0;
  },
});

function refOf([kind = '', name = '', ...more]: readonly string[]): ObjectRef {
  const [, namespace, own] = /^([^/]+)\/([^/]+)$/u.exec(name) ?? [];
  if (kind === 'service' && namespace !== undefined && own !== undefined && more.length === 0) {
    return { namespace, name: own };
  }
  throw new FlagError('unexpected-argument', 'expected one Service with its namespace: service default/web');
}

function partOf(text: string): PartName {
  const name = partNameOf(text);
  if (name) return name;
  throw new FlagError('invalid-flag', `--part=${text}: expected KIND/ID, such as address/a-1`);
}

async function existing<T>(answer: Promise<T>, { name, namespace }: ObjectRef): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (isNotFound(error)) throw new Error(`there is no Service ${namespace}/${name}`, { cause: error });
    throw error;
  }
}

function checkService({ metadata }: Service, { name, namespace }: ObjectRef): void {
  if (metadata?.deletionTimestamp === undefined) return;
  throw new Error(`Service ${namespace}/${name} is being deleted`);
}

function say({ stdout }: Environment, service: Service, parts: readonly PartName[], yes: boolean): void {
  const { name = '', namespace = '', uid = '' } = service.metadata ?? {};
  const asked = askedOf(service);
  const isWanted = service.spec?.type === 'LoadBalancer';
  const ingress = service.status?.loadBalancer?.ingress ?? [];
  const has = ingress.map((one) => one.ip ?? one.hostname ?? '').join(', ');
  const list = (names: readonly PartName[]): string => names.map((one) => `  ${one.kind}/${one.id}\n`).join('');
  stdout.write(
    [
      `Service ${namespace}/${name} (UID ${uid}) ${has === '' ? 'has no address yet' : `has the address ${has}`}.\n`,
      asked.length > 0 ? `It replaces an earlier request to adopt:\n${list(asked)}` : '',
      `${yes ? 'Requested' : 'Would be requested'} to be adopted, if they have no owner:\n${list(parts)}`,
      isWanted ? '' : 'They are adopted once the Service is of type LoadBalancer.\n',
      'From then on they are changed and deleted together with the Service.\n',
      yes
        ? `The manager adopts them, or records an Event that says why it does not: kubectl describe service ${name} --namespace ${namespace}\n`
        : 'Nothing was changed; add --yes to make the request.\n',
    ].join(''),
  );
}
