/** Which cloud, which cluster, which controllers. */
import { bool, string, strings, type FlagGroup } from '@outrigger/controller-manager';
import { callLimits, type CallLimit } from './call-limits.ts';

export interface CloudOptions {
  cloudProvider: string;
  cloudConfig: string;
  providerPath: string;
  userAgent: readonly string[];
  cloudCallLimits: readonly CallLimit[];
  clusterName: string;
  clusterCidr: string;
  allocateNodeCidrs: boolean;
  configureCloudRoutes: boolean;
  controllers: readonly string[];
}

export const cloudFlags: FlagGroup<CloudOptions> = {
  title: 'Cloud',
  flags: {
    cloudProvider: {
      type: string,
      default: '',
      usage:
        'The cloud: the name of a built-in provider, an npm package, or the path of an ES module (.js, .mjs, .ts) whose default export makes a provider. Several: a,b; the first one is the default. <name>=<provider> gives one another name.',
    },
    cloudConfig: {
      type: string,
      default: '',
      usage:
        "File with the provider's configuration; it is handed over as it is. With several providers: a=a.json,b=b.json, by their names.",
    },
    providerPath: {
      type: string,
      default: '',
      usage:
        'Directory whose node_modules is searched for --cloud-provider when that is an npm package; no other directory is searched. Empty: no npm package is loaded.',
    },
    userAgent: {
      type: strings,
      default: [],
      usage:
        "What else goes into the User-Agent of requests to the cloud, before the provider's own; as the provider takes it.",
    },
    cloudCallLimits: {
      type: callLimits,
      default: [],
      usage:
        'Requests a second that a cloud is sent at most: <provider>=<qps> or <provider>=<qps>:<burst>; <provider>/<bucket>=… for one of the buckets that the provider has, such as the services of OpenStack (compute, network, load-balancer). Without: as fast as the cloud takes them, slower after a 429.',
    },
    clusterName: { type: string, default: 'kubernetes', usage: 'Name of the cluster, for what is made in the cloud.' },
    clusterCidr: {
      type: string,
      default: '',
      usage: 'CIDR range of the pods, or one of each family: a,b. Needed for routes.',
    },
    allocateNodeCidrs: {
      type: bool,
      default: false,
      usage:
        'Whether somebody allocates pod CIDRs to nodes: node-ipam-controller needs it. With routes, a new node is marked NetworkUnavailable until it has its own.',
    },
    configureCloudRoutes: {
      type: bool,
      default: true,
      usage:
        'Whether routes to pod CIDRs are made in the cloud, where --cluster-cidr is set and the provider has routes.',
    },
    controllers: {
      type: strings,
      default: ['*'],
      usage:
        "The controllers to run: '*' for all that are on by default, 'foo' to turn one on, '-foo' to turn one off.",
    },
  },
};
