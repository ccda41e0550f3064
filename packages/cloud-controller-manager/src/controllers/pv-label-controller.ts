/** The PersistentVolume label controller and its webhook, from the program's flags. */
import { cutText, NAME_LENGTH } from '@outrigger/cloud-provider';
import { onceAMinute, type RunningController, type Webhook } from '@outrigger/controller-manager';
import { createPvLabelController, labelNewVolume } from '@outrigger/controllers';
import { resources, type Clock, type Logger, type PersistentVolume } from '@outrigger/kube';
import type { LeaderContext } from './cloud-controller.ts';
import { dependenciesOf } from './dependencies.ts';
import { PV_LABEL_WEBHOOK, PV_LABEL_WEBHOOK_PATH } from '../deploy/pv-label-webhook.ts';
import { VolumesOfClouds, type VolumeCloud } from './volumes-of-clouds.ts';
import { runWhileCapable } from './while-capable.ts';

export const PV_LABEL_CONTROLLER = 'persistent-volume-label-controller';

export function buildPvLabelController(context: LeaderContext): Omit<RunningController, 'name'> {
  const { clock, explanations, provider, providers, stores } = context;
  const dependencies = dependenciesOf(context, PV_LABEL_CONTROLLER);
  const store = stores.open(resources.persistentVolumes);
  return {
    run: (signal) =>
      runWhileCapable(
        {
          provider,
          capability: () => provider.capabilities.volumes,
          what: 'volumes',
          logger: dependencies.logger,
          build: () => ({
            run: (life) => {
              const controller = createPvLabelController({
                ...dependencies,
                store,
                lookUps: new VolumesOfClouds(providers, { clock, priority: 'normal', signal: life }).of(provider),
              });
              return explanations.follow(controller, { kinds: ['persistentvolume'], provider }).run(life);
            },
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
  readonly providers: readonly VolumeCloud[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Only the API server calls (`--webhook-client-ca-file`). What others make up goes before no other call, and is noted of no volume. */
  readonly isTrusted: boolean;
  /** Ends the look-ups. */
  readonly signal: AbortSignal;
}

export function createPvLabelWebhook({ clock, isTrusted, logger, providers, signal }: PvLabelWebhookOptions): Webhook {
  const lookUps = new VolumesOfClouds(providers, {
    clock,
    priority: isTrusted ? 'critical' : 'normal',
    callTimeoutMs: WEBHOOK_CALL_TIMEOUT_MS,
    signal,
  });
  const isDue = onceAMinute(clock);
  return {
    name: PV_LABEL_WEBHOOK,
    path: PV_LABEL_WEBHOOK_PATH,
    answer: async ({ object, operation }, inTime) => {
      if (!lookUps.areThere || operation !== 'CREATE' || !isVolume(object)) return {};
      return labelNewVolume(object, {
        lookUp: async (volume) => {
          const result = await lookUps.lookUp(isTrusted ? volume : { ...volume, uid: '' }, inTime);
          if (result.kind === 'failed' && isDue('look-up')) {
            logger.warn('Look-up of a volume failed', {
              volume: cutText(volume.name, NAME_LENGTH),
              error: result.error,
            });
          }
          return result;
        },
      });
    },
  };
}

function isVolume(object: unknown): object is PersistentVolume {
  const { apiVersion, kind } = (object ?? {}) as PersistentVolume;
  return apiVersion === 'v1' && kind === 'PersistentVolume';
}
