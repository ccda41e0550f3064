/** `outrigger config validate`: flags, files and credentials, tried before the program runs with them. */
import { isCloudError, type CallContext, type Capabilities, type CloudErrorCode } from '@outrigger/cloud-provider';
import { openProvider, type EndedRequest } from '@outrigger/cloud-runtime';
import { duration, FlagError, formatGoDuration, type FlagGroup } from '@outrigger/controller-manager';
import { silentLogger, systemClock, systemRandom, withDeadline, type Logger } from '@outrigger/kube';
import { loadClouds, type Cloud } from '../cloud/open-cloud.ts';
import { controllerFlags } from '../controllers/controllers.ts';
import { planWork } from '../controllers/work-plan.ts';
import { oneLine } from '../explain/one-line.ts';
import { LiveOptions } from '../options/live-options.ts';
import { flagSetOf, programGroups } from '../options/program-options.ts';
import type { Environment } from '../program/environment.ts';
import { defineCommand, type Command } from './command.ts';

const configFlags: FlagGroup<{ cloudTimeout: number }> = {
  title: 'Config',
  flags: {
    cloudTimeout: {
      type: duration({ minMs: 1 }),
      default: 30_000,
      usage: 'How long to wait for each answer of a cloud, and for its provider to be opened.',
    },
  },
};

/** What to do about a refusal, where the code says it. */
const TO_DO: Partial<Record<CloudErrorCode, string>> = {
  unauthenticated: 'correct the credentials in the cloud config',
  forbidden: 'grant the permissions that "outrigger rbac" prints for this provider',
  unavailable: 'check the URL in the cloud config, a proxy and DNS',
  timeout: 'check the URL in the cloud config, a proxy and DNS',
};

/** One read of each capability, of something that need not exist. */
const READS: {
  readonly [K in keyof Capabilities]?: (one: NonNullable<Capabilities[K]>, call: CallContext) => Promise<unknown>;
} = {
  instances: async (instances, call) => {
    const node = { name: 'outrigger-config-validate', uid: 'outrigger-config-validate', labels: {}, annotations: {} };
    const [answer] = await instances.lookUp([node], 'state', call);
    if (answer?.result.kind === 'failed') throw answer.result.error;
  },
  loadBalancers: (loadBalancers, call) => loadBalancers.listOwned(call),
  routes: (routes, call) => routes.list(call),
};

export const configCommand: Command = defineCommand({
  name: 'config',
  summary:
    'Checks flags, configuration files and the credentials of each cloud with one read-only request for each capability. Exit code: 0 all is valid, 1 something is not.',
  words: 'validate',
  flags: [configFlags],
  programFlags: ({ controllers }) => [...programGroups, ...controllerFlags(controllers)],
  examples: [
    ['Before a deployment', 'outrigger config validate --cloud-provider=openstack --cloud-config=cloud.conf'],
    ['With the file of --config', 'outrigger config validate --config=config.yaml'],
  ],
  run: async (parsed, environment, args) => {
    if (parsed.words.join(' ') !== 'validate' || args[0] !== 'validate') {
      throw new FlagError('unexpected-argument', 'expected validate, and then flags');
    }
    const { controllers, stdout } = environment;
    const flags = flagSetOf([configFlags, ...controllerFlags(controllers)]);
    const { current: options } = await LiveOptions.read({ ...environment, args: args.slice(1), flags });
    await planWork({ environment, options });
    const clouds = await loadClouds({ environment, logger: silentLogger, options });
    stdout.write('flags and configuration files: valid\n');
    let code = 0;
    for (const cloud of clouds) {
      const lines = await tryCloud(cloud, environment, options.cloud.clusterName, parsed.of(configFlags).cloudTimeout);
      for (const { ok, text } of lines) {
        stdout.write(`provider ${cloud.provider.name}: ${oneLine(text)}\n`);
        if (!ok) code = 1;
      }
    }
    return code;
  },
});

interface Line {
  readonly ok: boolean;
  readonly text: string;
}

async function tryCloud(
  { config, provider }: Cloud,
  { clock = systemClock }: Environment,
  clusterName: string,
  timeoutMs: number,
): Promise<readonly Line[]> {
  const requests: EndedRequest[] = [];
  const warnings = new Set<string>();
  const within = <T>(what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline({ clock, timeoutMs, what }, work);
  try {
    // Nothing is made in any cluster's name.
    const cluster = { id: '', name: clusterName };
    await using opened = await within('opening the provider', (signal) =>
      openProvider(provider, {
        cluster,
        config,
        clock,
        logger: warningsInto(warnings),
        random: systemRandom,
        callTimeoutMs: timeoutMs,
        signal,
        onRequest: (request) => requests.push(request),
        onWriteRefused: () => {},
      }),
    );
    const lines: Line[] = [...linesOf(warnings), { ok: true, text: 'opened' }];
    const before = lines.length;
    for (const name of Object.keys(READS) as (keyof typeof READS)[]) {
      const capability = opened.capabilities[name];
      const read = READS[name] as ((one: typeof capability, call: CallContext) => Promise<unknown>) | undefined;
      if (!capability || !read) continue;
      const startedAt = clock.monotonic();
      try {
        await within(`reading ${name}`, (signal) =>
          read(capability, opened.callContext({ signal, priority: 'normal', reads: true, maxAttempts: 2 })),
        );
        const took = formatGoDuration(Math.round(clock.monotonic() - startedAt));
        lines.push({ ok: true, text: `${name}: answered in ${took}` });
      } catch (error) {
        lines.push(failed(name, error, opened.redact.bind(opened)));
      }
    }
    if (lines.length === before) lines.push({ ok: true, text: 'it has no capability that can be tried' });
    return lines;
  } catch (error) {
    return [...linesOf(warnings), failed('not opened', error, (text) => text, requests.at(-1))];
  }
}

/** Such as keys that a config has and nobody reads. What fails is found out by what is tried. */
function warningsInto(warnings: Set<string>): Logger {
  const logger: Logger = {
    ...silentLogger,
    warn: (message, fields) => {
      if (fields?.['error'] === undefined) warnings.add(message);
    },
    with: () => logger,
  };
  return logger;
}

function linesOf(warnings: ReadonlySet<string>): readonly Line[] {
  return Array.from(warnings, (text) => ({ ok: true, text: `warning: ${text}` }));
}

function failed(what: string, error: unknown, redact: (text: string) => string, last?: EndedRequest): Line {
  const message = redact(error instanceof Error ? error.message : String(error));
  const code = isCloudError(error) ? error.code : undefined;
  const request = last === undefined ? '' : `; last request: ${last.operation}: ${last.code}`;
  const todo = TO_DO[(code ?? last?.code) as CloudErrorCode];
  const kind = code === undefined ? '' : ` (${code})`;
  return { ok: false, text: `${what}: ${message}${kind}${request}${todo === undefined ? '' : `; ${todo}`}` };
}
