/** Where the cluster's servers are: one project in one region. What a 404 proves there is `ClusterPlace`'s to say. */
import { ClusterPlace } from '@outrigger/cloud-provider';

export interface Place {
  /** Keystone's ID of the project that a token is for. */
  readonly projectId: string;
  /** `undefined`: the catalogue names none. */
  readonly region: string | undefined;
}

export class Home extends ClusterPlace {
  constructor() {
    super({
      what: 'project and region',
      machine: 'server',
      setBy: 'tenant and region in [Global] of cloud.conf',
    });
  }

  /** The place of a token, by its catalogue. */
  admitToken({ projectId, region }: Place): void {
    this.admit(`project ${projectId}${region === undefined ? '' : ` of region ${region}`}`);
  }
}
