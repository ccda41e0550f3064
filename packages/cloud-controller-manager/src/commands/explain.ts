/** `outrigger explain`: asks the manager that leads why an object is as it is. */
import { FlagError, oneOf, string, type FlagGroup } from '@outrigger/controller-manager';
import { systemClock, withDeadline } from '@outrigger/kube';
import { askManager, explanationPath } from '../explain/ask-manager.ts';
import { explainedKinds, isExplainedKind, type Explanation } from '../explain/explanation.ts';
import { clusterOf, managerFlags, managerOf } from '../explain/manager-access.ts';
import { jsonText } from '../explain/one-line.ts';
import { renderExplanation } from '../explain/render-explanation.ts';
import { defineCommand, type Command } from './command.ts';

interface ExplainOptions {
  namespace: string;
  output: 'text' | 'json';
}

/** As `kubectl` has them. */
const SHORT: Readonly<Record<string, string>> = { pv: 'persistentvolume', csr: 'certificatesigningrequest' };

const explainFlags: FlagGroup<ExplainOptions> = {
  title: 'Explain',
  flags: {
    namespace: {
      type: string,
      default: '',
      shorthand: 'n',
      usage: 'Namespace of the Service, where its name has none. Default: that of the context of the kubeconfig.',
    },
    output: { type: oneOf(['text', 'json']), default: 'text', shorthand: 'o', usage: "'text' for people, or 'json'." },
  },
};

export const explainCommand: Command = defineCommand({
  name: 'explain',
  summary:
    'Explains the state of a node, a Service, a route, a PersistentVolume (pv) or a CertificateSigningRequest (csr): what was observed, what is planned, what was done.',
  words: `${explainedKinds.join('|')} NAME`,
  flags: [explainFlags, managerFlags],
  examples: [
    ['Why a node is not initialized; the leader is found by its Lease', 'outrigger explain node worker-1'],
    ['Why a Service has no address', 'outrigger explain service default/web'],
    ['Why a volume has no zone', 'outrigger explain pv data-1'],
    ['Why the request of a kubelet for a certificate stays pending', 'outrigger explain csr csr-x7k2p'],
    [
      'The leader through a port-forward',
      'outrigger explain service default/web --server=https://127.0.0.1:10258 --certificate-authority=ca.crt',
    ],
  ],
  run: async (parsed, environment) => {
    const [word = '', name = '', ...more] = parsed.words;
    const kind = SHORT[word] ?? word;
    if (!isExplainedKind(kind) || name === '' || more.length > 0) {
      const text = `expected ${explainedKinds.join('|')} and one name: worker-1, default/web, 10.244.1.0/24`;
      throw new FlagError('unexpected-argument', text);
    }
    const { namespace: chosen, output } = parsed.of(explainFlags);
    const options = parsed.of(managerFlags);
    const { clock = systemClock, stdout } = environment;
    const cluster = await clusterOf(options, environment);
    const namespace = chosen === '' ? (cluster?.namespace ?? 'default') : chosen;
    const full = kind === 'service' && !name.includes('/') ? `${namespace}/${name}` : name;
    const page = explanationPath(kind, full);
    const deadline = { clock, timeoutMs: options.requestTimeout, what: 'asking the manager' };
    const explanation = await withDeadline(deadline, async (signal) => {
      const manager = await managerOf(options, cluster, environment, signal);
      return (await askManager(manager, page, { clock, signal })) as Explanation;
    });
    stdout.write(output === 'json' ? jsonText(explanation) : renderExplanation(explanation));
    return 0;
  },
});
