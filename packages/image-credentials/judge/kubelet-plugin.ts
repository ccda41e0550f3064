/** The kubelet's own code that runs image credential providers, built once from its Go module and kept in the cache. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cachedGoProgram, DEFAULT_KUBERNETES, RELEASES } from '@outrigger/testing';

export interface KubeletQuestion {
  readonly image: string;
  /** Default: a pod without one, as a static pod is. */
  readonly serviceAccount?: string;
  readonly token?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface KubeletAnswer {
  readonly found: boolean;
  readonly credentials: readonly { readonly username: string; readonly password: string }[];
}

export interface AskedKubelet {
  readonly answers: readonly KubeletAnswer[];
  /** What a kubelet logs. */
  readonly log: string;
}

/** Its path. The first time takes minutes. */
export function kubeletPlugin(): Promise<string> {
  return cachedGoProgram({
    name: 'kubelet-plugin',
    module: 'k8s.io/kubernetes',
    version: RELEASES[DEFAULT_KUBERNETES].kubernetes,
    source: { folder: fileURLToPath(new URL('kubelet-plugin', import.meta.url)) },
    linkerFlags: '-s -w',
  });
}

/** One kubelet, which keeps what it was given: the questions are asked one after the other. `config`: a file, or a folder of them. */
export async function askKubelet(
  files: { readonly config: string; readonly binDir: string },
  questions: readonly KubeletQuestion[],
  env: Readonly<Record<string, string>> = {},
): Promise<AskedKubelet> {
  const child = spawn(await kubeletPlugin(), [files.config, files.binDir], { env: { ...process.env, ...env } });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log += text));
  const answers: KubeletAnswer[] = [];
  createInterface(child.stdout).on('line', (line) => answers.push(JSON.parse(line) as KubeletAnswer));
  const ended = once(child, 'close');
  child.stdin.on('error', () => {});
  child.stdin.end(questions.map((question) => `${JSON.stringify(question)}\n`).join(''));
  const [code] = (await ended) as [number | null];
  if (code !== 0) throw new Error(`the kubelet's code ended with ${code}: ${log}`);
  return { answers, log };
}
