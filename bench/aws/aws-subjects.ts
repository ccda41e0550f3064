/** The programs: Outrigger as it is built, and cloud-provider-aws where there is one. */
import { execFileSync } from 'node:child_process';
import { buildOfficial } from '../../providers/aws/lab/official.ts';
import { outrigger as memoryOutrigger, type Subject, type Surroundings } from '../subjects.ts';

function flagsOf({ cloudConfig, kubeconfig, port }: Surroundings): readonly string[] {
  return [
    '--cloud-provider=aws',
    `--cloud-config=${cloudConfig}`,
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    '--configure-cloud-routes=false',
  ];
}

export const OURS: string = memoryOutrigger.name;
export const OFFICIAL = 'official';

/** Builds it. `flags`: beside those that say where everything is. */
export function outrigger(): Subject {
  execFileSync(process.execPath, ['scripts/build.ts'], { stdio: 'inherit' });
  return {
    ...memoryOutrigger,
    command: (given) => {
      const [program] = memoryOutrigger.command(given);
      return [program, ...flagsOf(given)];
    },
  };
}

/** A node goes within the time that a fault lasts here. */
export function hasty(subject: Subject): Subject {
  if (subject.name !== OURS) return subject;
  const flags = ['--node-deletion-grace-period=1s', '--node-deletion-max-fraction=1'];
  return {
    ...subject,
    command: (given) => {
      const [program, ...others] = subject.command(given);
      return [program, ...others, ...flags];
    },
  };
}

/** `path`: of a program that is there; default: it is built, which takes minutes. `undefined`: there is no Go to build it with. */
export async function official(path: string | undefined): Promise<Subject | undefined> {
  const program = path ?? (await built());
  if (program === undefined) return undefined;
  return {
    name: OFFICIAL,
    mostNodes: Number.POSITIVE_INFINITY,
    usesCloud: true,
    command: (given) => [
      program,
      ...flagsOf(given),
      // Of the API server as much as it can; of AWS what its default flags let it ask for, one Service at a time.
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
      '--concurrent-node-syncs=50',
      '--allocate-node-cidrs=false',
    ],
  };
}

async function built(): Promise<string | undefined> {
  try {
    return await buildOfficial();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    console.log('There is no Go here to build cloud-provider-aws with: Outrigger is measured alone');
    return undefined;
  }
}
