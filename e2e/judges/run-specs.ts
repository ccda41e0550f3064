/** Runs a program of upstream's end-to-end specs, and reads what it reports. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ProcessGroup, type ControlPlane } from '@outrigger/testing';

/** What Ginkgo writes with `-ginkgo.json-report`, as far as it is read here. */
interface SuiteReport {
  readonly SpecReports: readonly SpecReport[];
}

interface SpecReport {
  readonly ContainerHierarchyTexts: readonly string[] | null;
  /** `It`, or a node of the suite, as `BeforeSuite`. */
  readonly LeafNodeType: string;
  readonly LeafNodeText: string;
  /** `passed`, `failed`, `timedout` …; `skipped` also where it was not in the focus. */
  readonly State: string;
  readonly Failure?: { readonly Message: string };
}

export interface SpecsOptions {
  readonly controlPlane: ControlPlane;
  readonly program: string;
  /** Of its log and its report. */
  readonly name: string;
  /** Of the full texts of the specs. */
  readonly focus: RegExp;
  readonly args: readonly string[];
}

/** The full text of each spec that passed. Rejects with what failed, and with the end of the log, when the program does not end with 0. */
export async function runSpecs(options: SpecsOptions): Promise<readonly string[]> {
  const { controlPlane, focus, name, program } = options;
  const file = (kind: string): string => join(controlPlane.directory, 'logs', `${name}.${kind}`);
  const [log, report] = [file('log'), file('json')];
  const args = [
    `-kubeconfig=${controlPlane.kubeconfig.path}`,
    `-ginkgo.focus=${focus.source}`,
    `-ginkgo.json-report=${report}`,
    '-ginkgo.no-color',
    '-ginkgo.timeout=20m',
    ...options.args,
  ];
  await using group = new ProcessGroup();
  const { code, signal } = await (await group.start({ name, command: program, args, log })).exited();
  const text = await readFile(report, 'utf8').catch(() => '[]');
  const specs = (JSON.parse(text) as readonly SuiteReport[]).flatMap(({ SpecReports }) => SpecReports);
  if (code !== 0) {
    const failed = specs.filter(({ Failure, State }) => Failure && State !== 'skipped');
    const told = failed.map((spec) => `${spec.State}: ${fullText(spec)}: ${spec.Failure?.Message}`);
    const tail = (await readFile(log, 'utf8')).slice(-6_000);
    throw new Error(`${name} ended with ${code ?? signal}\n${told.join('\n')}\n${tail}`);
  }
  return specs.filter(({ LeafNodeType, State }) => LeafNodeType === 'It' && State === 'passed').map(fullText);
}

function fullText({ ContainerHierarchyTexts, LeafNodeText, LeafNodeType }: SpecReport): string {
  return [...(ContainerHierarchyTexts ?? []), LeafNodeText || LeafNodeType].join(' ');
}
