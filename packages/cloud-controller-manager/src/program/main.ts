/**
 * The program, or one of its commands: a word before any flag. Exit codes of the program: 0 stopped as asked (or --help, --version); 1 anything else: a command line, configuration or
 * provider that is wrong, a start that failed, a controller that failed, leadership lost. A second SIGTERM or SIGINT
 * exits at once with 1, and so does an error that nothing caught.
 */
import {
  createLogging,
  fileDescriptorDestination,
  FlagError,
  HealthChecks,
  PrometheusMetrics,
  watchStopSignals,
  type Logging,
} from '@outrigger/controller-manager';
import { Journal } from '@outrigger/controllers';
import { systemClock, systemRandom } from '@outrigger/kube';
import { Explanations } from '../explain/explanations.ts';
import { findCommand, renderCommands } from '../commands/find-command.ts';
import { controllerFlags } from '../controllers/controllers.ts';
import type { Environment } from './environment.ts';
import { programHelp } from './program-help.ts';
import { LiveOptions } from '../options/live-options.ts';
import { flagSetOf, type ProgramOptions } from '../options/program-options.ts';
import { withRemedies } from './remedies.ts';
import { runProgram } from './run-program.ts';
import { version, versionInfo } from './version.ts';
import { watchFaults } from './watch-faults.ts';

const ABOUT_COMMANDS = 'Outrigger connects a Kubernetes cluster with its cloud. This runs one of its commands.';

/** `args` without the program's name. Returns the exit code when all has ended. Never throws. */
export async function main(args: readonly string[], environment: Environment): Promise<number> {
  const { commands = [], program = 'cloud-controller-manager', stderr, stdout } = environment;
  const [word = '', ...rest] = args;
  if (word !== '' && !word.startsWith('-')) {
    try {
      return await findCommand(word, commands).run(rest, environment);
    } catch (error) {
      if (!(error instanceof FlagError)) throw error;
      stderr.write(`${program}: ${error.message}\n`);
      return 1;
    }
  }
  if (program === 'cloud-controller-manager') return await runManager(args, environment);
  if (word === '--version') {
    stdout.write(`Outrigger ${version}\n`);
    return 0;
  }
  if (['', '-h', '--help'].includes(word)) {
    stdout.write(`${ABOUT_COMMANDS}\n\n${renderCommands(commands)}`);
    return 0;
  }
  stderr.write(`${program}: a command must come before its flags; see --help\n`);
  return 1;
}

async function runManager(args: readonly string[], environment: Environment): Promise<number> {
  const flags = flagSetOf(controllerFlags(environment.controllers));
  let live: LiveOptions;
  try {
    live = await LiveOptions.read({ ...environment, args, flags });
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    environment.stderr.write(`cloud-controller-manager: ${error.message}\n`);
    return 1;
  }
  const options = live.current;
  if (options.global.help) {
    environment.stdout.write(programHelp(flags, environment));
    return 0;
  }
  if (options.global.version) {
    environment.stdout.write(`Outrigger ${version}\n`);
    return 0;
  }
  const logging = openLog(options, environment);
  try {
    return await runLogged(live, environment, logging);
  } finally {
    logging.flush();
  }
}

async function runLogged(live: LiveOptions, environment: Environment, logging: Logging): Promise<number> {
  const { redactor, setVerbosity } = logging;
  const logger = withRemedies(logging.logger);
  const options = live.current;
  for (const warning of options.warnings) logger.warn(warning);
  const { clock = systemClock } = environment;
  const metrics = new PrometheusMetrics({ processMetrics: true });
  const slis = new PrometheusMetrics();
  recordBuild(metrics);
  const { dryRun } = options.debugging;
  const redact = (text: string): string => redactor.redact(text);
  const journal = new Journal({ clock, logger, metrics, dryRun, redact });
  const exitNow = (): void => {
    logging.flush();
    environment.exit(1);
  };
  using _faults = watchFaults(environment.faults, logger, exitNow);
  using stop = watchStopSignals(environment.signals, logger, exitNow);
  try {
    return await runProgram(
      {
        options,
        live,
        environment,
        clock,
        logger,
        redactor,
        setVerbosity,
        metrics,
        health: new HealthChecks({ metrics: slis }),
        slis,
        journal,
        explanations: new Explanations(clock, journal, redact),
        startedAt: clock.now(),
        random: systemRandom,
      },
      stop.signal,
    );
  } catch (error) {
    if (stop.signal.aborted) return 0;
    if (error instanceof FlagError) environment.stderr.write(`cloud-controller-manager: ${error.message}\n`);
    else logger.error('Cannot start', { error });
    return 1;
  }
}

function openLog(options: ProgramOptions, { clock = systemClock, stderr }: Environment): Logging {
  const { loggingFormat, v, vmodule } = options.logs;
  return createLogging({
    clock,
    format: loggingFormat,
    level: v,
    vmodule,
    component: 'main',
    destination: stderr.fd === undefined ? stderr : fileDescriptorDestination(stderr.fd, clock),
  });
}

/** With upstream's labels: those that say nothing of a program for Node are empty. */
function recordBuild(metrics: PrometheusMetrics): void {
  const { gitVersion = '', major = '', minor = '', platform = '' } = versionInfo();
  const labels = {
    build_date: '',
    compiler: 'v8',
    git_commit: '',
    git_tree_state: '',
    git_version: gitVersion,
    go_version: '',
    major,
    minor,
    platform,
  };
  metrics
    .gauge({
      name: 'kubernetes_build_info',
      help: 'Which build of the program this is: the labels say it, the value is 1',
      labels: Object.keys(labels),
    })
    .set(1, labels);
}
