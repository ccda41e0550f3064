/** Where the cluster's servers are: one project in one region, and whether any of them has been seen there. */
import { CloudError } from '@outrigger/cloud-provider';

export interface Place {
  /** Keystone's ID of the project that a token is for. */
  readonly projectId: string;
  /** `undefined`: the catalogue names none. */
  readonly region: string | undefined;
}

/**
 * In another project, or another region, all servers, load balancers and routes of a cluster seem to be gone: nova answers 404 for
 * what one may not see. So the place of the first token is kept, whatever a changed cloud config says; and until a server of
 * the cluster has been seen there, the first place may be the wrong one, and a 404 proves nothing.
 */
export class Home {
  #place: Place | undefined;
  #sawAny = false;
  /** Servers that were found by the names of nodes: others may have these names elsewhere. */
  readonly #byName = new Set<string>();
  /** IDs of all parts of load balancers that were seen or made here, of which there are as many as the cluster has ever had. */
  readonly #parts = new Set<string>();
  #isDoubted = false;

  /** The project and region that are asked, for people and to be compared; `undefined` before the first token. */
  get place(): string | undefined {
    return this.#place && said(this.#place);
  }

  /** Throws a `CloudError` `configuration` for another place than before. A place that is in doubt may be left. */
  admit(place: Place): void {
    const home = this.#place ?? place;
    const isOther = home.projectId !== place.projectId || home.region !== place.region;
    if (isOther && !this.#isDoubted) {
      throw new CloudError(
        'configuration',
        `the cloud config leads to ${said(place)}, and this cluster is in ${said(home)}: nothing is asked there, as all of the cluster would seem to be gone; correct [Global] of cloud.conf, or restart the program if the cluster has moved`,
      );
    }
    this.#place = place;
    if (!isOther) return;
    this.#isDoubted = false;
    this.#byName.clear();
    this.#parts.clear();
  }

  /** A node has the ID of a server that is here. */
  sawById(): void {
    this.#sawAny = true;
    this.#isDoubted = false;
    this.#byName.clear();
  }

  sawByName(id: string): void {
    if (!this.#sawAny) this.#byName.add(id);
  }

  /** A part of a load balancer is here, or was made here just now: clusters whose nodes are no servers of nova have them too. */
  sawPart(id: string): void {
    this.#parts.add(id);
  }

  /** Whether a 404 for this part of a load balancer means that it is gone. */
  provesPartGone(id: string): boolean {
    return this.#sawAny || this.#parts.has(id);
  }

  /** Whether a 404 for this server means that there is none. */
  provesAbsence(id: string): boolean {
    return this.#sawAny || this.#byName.has(id);
  }

  /** This may be the wrong place. Returns whether that is news. */
  doubt(): boolean {
    const isNews = !this.#sawAny && !this.#isDoubted;
    this.#isDoubted ||= isNews;
    return isNews;
  }
}

function said({ projectId, region }: Place): string {
  return `project ${projectId}${region === undefined ? '' : ` of region ${region}`}`;
}
