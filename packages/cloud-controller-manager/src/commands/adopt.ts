/** `outrigger adopt`: asks that a Service takes over what a person, or another program, made for it in the cloud. */
import type { PartName } from '@outrigger/cloud-provider';
import { bool, duration, FlagError, string, strings, type FlagGroup } from '@outrigger/controller-manager';
import { adoptCondition, adoptionOf, adoptPatch, askedOf, partNameOf } from '@outrigger/controllers';
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
import { oneLine } from '../explain/one-line.ts';
import type { Environment } from '../program/environment.ts';
import { defineCommand, type Command } from './command.ts';

interface AdoptOptions {
  kubeconfig: string;
  part: readonly string[];
  yes: boolean;
  wait: number;
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
    wait: {
      type: duration(),
      default: 60_000,
      usage: 'With --yes: how long to wait for the result. 0: not at all.',
    },
    kubeconfig: {
      type: string,
      default: '',
      usage:
        'Path of a kubeconfig file, whose user may get Services and patch services/status. Without it: $KUBECONFIG, ~/.kube/config.',
    },
  },
};

export const adoptCommand: Command = defineCommand({
  name: 'adopt',
  summary:
    'Requests that a Service adopts parts of a load balancer that have no owner because they were created by hand or by another program. Exit code: 0 adopted, 1 refused, 2 no answer in time.',
  words: 'service NAMESPACE/NAME',
  flags: [adoptFlags],
  examples: [
    ['What would be requested', 'outrigger adopt service default/web --part=address/address-17'],
    ['Request it', 'outrigger adopt service default/web --part=address/address-17 --yes'],
  ],
  run: async (parsed, environment) => {
    const ref = refOf(parsed.words);
    const { kubeconfig, part, wait, yes } = parsed.of(adoptFlags);
    const parts = part.map(partOf);
    if (parts.length === 0) throw new FlagError('invalid-flag', '--part is missing: name at least one, as KIND/ID');
    const { clock = systemClock, env } = environment;
    const config = await loadConfig({ ...(kubeconfig === '' ? {} : { kubeconfig }), env, clock });
    await using transport = createTransport(config, { clock });
    const services = createClient(transport).of(resources.services);
    const service = await existing(services.get(ref), ref);
    checkService(service, ref);
    say(environment, service, parts, yes);
    if (!yes) return 0;
    const patch = adoptPatch(service, parts, clock.now());
    const asked = await existing(services.patch(ref, patch, { subresource: 'status' }), ref);
    if (wait === 0 || asked.spec?.type !== 'LoadBalancer') return 0;
    const until = clock.monotonic() + wait;
    return await outcome(environment, () => existing(services.get(ref), ref), { asked, ref, until });
  },
});

const POLL_MS = 1_000;

interface Awaited {
  /** As it was when the request was made. */
  readonly asked: Service;
  readonly ref: ObjectRef;
  /** By the monotonic clock. */
  readonly until: number;
}

/** The exit code, by the answer in the condition that makes the request. */
async function outcome(
  { clock = systemClock, stdout }: Environment,
  read: () => Promise<Service>,
  { asked, ref: { name, namespace = '' }, until }: Awaited,
): Promise<number> {
  const end = (code: number, text: string): number => {
    stdout.write(`${oneLine(text)}\n`);
    return code;
  };
  for (;;) {
    const { kind, message } = adoptionOf(asked, await read());
    if (kind === 'adopted') return end(0, 'Adopted: the parts belong to the Service.');
    if (kind === 'refused') return end(1, `Not adopted: ${message}`);
    if (kind === 'replaced') return end(2, 'No answer: another request replaced this one, or it was removed.');
    if (clock.monotonic() >= until) {
      const why = message === '' ? 'Is a manager leading, and is the Service its own?' : notReady(message);
      return end(2, `No answer yet. ${why} outrigger explain service ${namespace}/${name}`);
    }
    await clock.sleep(Math.min(POLL_MS, Math.max(1, until - clock.monotonic())));
  }
}

const notReady = (message: string): string => `The load balancer is not ready: ${message.replace(/\.$/u, '')}.`;

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
  const list = (names: readonly PartName[]): string =>
    names.map((one) => `  ${oneLine(`${one.kind}/${one.id}`)}\n`).join('');
  stdout.write(
    [
      `Service ${namespace}/${name} (UID ${uid}) ${has === '' ? 'has no address yet' : `has the address ${has}`}.\n`,
      asked.length > 0 ? `It replaces an earlier request to adopt:\n${list(asked)}` : '',
      `${yes ? 'Requested' : 'Would be requested'} to be adopted, if they have no owner:\n${list(parts)}`,
      isWanted ? '' : 'They are adopted once the Service is of type LoadBalancer.\n',
      'From then on they are changed and deleted together with the Service.\n',
      yes
        ? `The manager answers in the condition ${adoptCondition} of the Service.\n`
        : 'Nothing was changed; add --yes to make the request.\n',
    ].join(''),
  );
}
