/** The PersistentVolume label controller and its webhook, from the program's flags. */
import type { VolumeRef, VolumeResult, VolumeTopology } from '@outrigger/cloud-provider';
import { createVolumeLookUps, type OpenedProvider, type VolumeLookUps } from '@outrigger/cloud-runtime';
import type { RunningController, Webhook } from '@outrigger/controller-manager';
import { createPvLabelController, labelNewVolume } from '@outrigger/controllers';
import { resources, type Clock, type PersistentVolume } from '@outrigger/kube';
import type { LeaderContext } from './controllers.ts';
import { PV_LABEL_WEBHOOK, PV_LABEL_WEBHOOK_PATH } from './deploy/pv-label-webhook.ts';
import { runWhileCapable } from './while-capable.ts';

export const PV_LABEL_CONTROLLER = 'persistent-volume-label-controller';

export function buildPvLabelController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { client, clock, eventsOf, metrics, provider, random, stores } = context;
  const logger = context.logger.with({ controller: PV_LABEL_CONTROLLER });
  const events = eventsOf(PV_LABEL_CONTROLLER);
  const store = stores.open(resources.persistentVolumes);
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.capabilities.volumes,
          what: 'volumes',
          logger,
          build: (volumes) => ({
            run: (life) =>
              createPvLabelController({
                client,
                store,
                lookUps: createVolumeLookUps({
                  volumes,
                  callContext: (wanted) => provider.callContext(wanted),
                  clock,
                  priority: 'normal',
                  signal: life,
                }),
                events,
                clock,
                logger,
                metrics,
                random,
                journal: context.journal.of(PV_LABEL_CONTROLLER),
              }).run(life),
          }),
        },
        signal,
      ),
  };
}

/** The API server waits for it: no call may be longer than its answer may take. */
const WEBHOOK_CALL_TIMEOUT_MS = 4_000;

export interface PvLabelWebhookOptions {
  /** Whoever of them knows the volume. */
  readonly providers: readonly Pick<OpenedProvider, 'capabilities' | 'callContext'>[];
  readonly clock: Clock;
  /** Ends the look-ups. */
  readonly signal: AbortSignal;
}

export function createPvLabelWebhook({ clock, providers, signal }: PvLabelWebhookOptions): Webhook {
  const known = new WeakMap<VolumeTopology, VolumeLookUps>();
  const lookUpsOf = (provider: (typeof providers)[number]): VolumeLookUps | undefined => {
    const { volumes } = provider.capabilities;
    if (!volumes) return undefined;
    const lookUps =
      known.get(volumes) ??
      createVolumeLookUps({
        volumes,
        callContext: (wanted) => provider.callContext(wanted),
        clock,
        priority: 'critical',
        callTimeoutMs: WEBHOOK_CALL_TIMEOUT_MS,
        signal,
      });
    known.set(volumes, lookUps);
    return lookUps;
  };
  return {
    name: PV_LABEL_WEBHOOK,
    path: PV_LABEL_WEBHOOK_PATH,
    answer: async ({ object, operation }) => {
      const lookUps = providers.flatMap((provider) => lookUpsOf(provider) ?? []);
      if (lookUps.length === 0 || operation !== 'CREATE' || !isVolume(object)) return {};
      return labelNewVolume(object, { lookUp: (volume) => firstThatKnows(lookUps, volume) });
    },
  };
}

/** A provider that fails may be the one that would know. */
async function firstThatKnows(lookUps: readonly VolumeLookUps[], volume: VolumeRef): Promise<VolumeResult> {
  const results = await Promise.all(lookUps.map((each) => each.lookUp(volume)));
  const by = (kind: VolumeResult['kind']): VolumeResult | undefined => results.find((result) => result.kind === kind);
  return by('found') ?? by('failed') ?? { kind: 'unknown' };
}

function isVolume(object: unknown): object is PersistentVolume {
  const { apiVersion, kind } = (object ?? {}) as PersistentVolume;
  return apiVersion === 'v1' && kind === 'PersistentVolume';
}
