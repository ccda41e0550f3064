/** `/explain/<kind>/<name>`: why an object is as it is. `/explain/<kind>/`: how all of that kind stand. */
import type { Page } from '@outrigger/controller-manager';
import { SERVING_SIGNER } from '@outrigger/controllers';
import type { Foundation } from '../program/foundation.ts';
import { explainedKinds, isExplainedKind, listedKinds, type ExplainedKind } from './explanation.ts';

/** Its path; what is asked for comes after it. */
export const EXPLAIN_PATH = '/explain/';

/** What a controller does not even read. */
const LIMITS: Readonly<Partial<Record<ExplainedKind, string>>> = {
  certificatesigningrequest: `; only those of the signer ${SERVING_SIGNER} are read`,
};

/** `leader`: the identity of who leads; '' when nobody is known to. */
export function explainPage({ explanations }: Pick<Foundation, 'explanations'>, leader: () => string): Page {
  return {
    path: EXPLAIN_PATH,
    answer: (rest) => {
      const [kind = ''] = rest.split('/', 1);
      const name = rest.slice(kind.length + 1);
      if (!isExplainedKind(kind) || (name === '' && !listedKinds.includes(kind))) {
        return {
          status: 404,
          body: `expected ${EXPLAIN_PATH}<kind>/<name>, or ${EXPLAIN_PATH}<kind>/ for a list; the kinds are ${explainedKinds.join(', ')}, the lists ${listedKinds.join(', ')}`,
        };
      }
      if (!explanations.areThere) return { status: 503, body: notLeading(leader()) };
      if (name === '') return explanations.list(kind).then((body) => ({ body }));
      const explanation = explanations.explain(kind, name);
      if (explanation) return { body: explanation };
      const why = explanations.knows(kind)
        ? `no running controller knows a ${kind} ${name}${LIMITS[kind] ?? ''}`
        : `no controller that manages a ${kind} runs: see --controllers`;
      return { status: 404, body: why };
    },
  };
}

function notLeading(leader: string): string {
  if (leader === '') return 'no controller runs in this process, and no leader is known: retry later';
  return `no controller runs in this process; send the request to the leader, ${leader}`;
}
