/** What every part of the program is given. */
import type { HealthChecks, Logging, PrometheusMetrics } from '@outrigger/controller-manager';
import type { Journal } from '@outrigger/controllers';
import type { Clock, Logger } from '@outrigger/kube';
import type { Explanations } from '../explain/explanations.ts';
import type { ProgramEnvironment } from './program-environment.ts';
import type { LiveOptions } from '../options/live-options.ts';
import type { ProgramOptions } from '../options/program-options.ts';

export interface Foundation {
  /** As they were at the start. */
  readonly options: ProgramOptions;
  /** As they are now. */
  readonly live: LiveOptions;
  readonly environment: ProgramEnvironment;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Logging['redactor'];
  readonly setVerbosity: Logging['setVerbosity'];
  readonly metrics: PrometheusMetrics;
  readonly health: HealthChecks;
  /** What `health` counts, served at /metrics/slis. */
  readonly slis: PrometheusMetrics;
  /** What is done, and in a dry run would be. */
  readonly journal: Journal;
  /** Asks the controllers that run why. */
  readonly explanations: Explanations;
  /** When the process began, in milliseconds since the Unix epoch. */
  readonly startedAt: number;
  /** In [0, 1). */
  readonly random: () => number;
}
