/** Which cloud, which cluster, which controllers. */
import { bool, string, strings, type FlagGroup } from '@outrigger/controller-manager';
import { parseUnmanagedRule, VIRTUAL_KUBELETS, type UnmanagedRule } from '@outrigger/controllers';
import { callLimits, type CallLimit } from './call-limits.ts';
import { unmanagedNodes } from './unmanaged-nodes.ts';

export interface CloudOptions {
  cloudProvider: string;
  cloudConfig: string;
  providerPath: string;
  userAgent: readonly string[];
  cloudCallLimits: readonly CallLimit[];
  unmanagedNodes: readonly UnmanagedRule[];
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
        'The cloud provider: the name of a built-in one, an npm package, or the path of an ES module (.js, .mjs, .ts) whose default export creates a provider. Several: a,b; the first one is the default. <name>=<provider> renames one.',
    },
    cloudConfig: {
      type: string,
      default: '',
      usage:
        "Path of the provider's configuration file, which is passed to it unchanged. With several providers: a=a.json,b=b.json, by their names.",
    },
    providerPath: {
      type: string,
      default: '',
      usage:
        'Directory whose node_modules is searched for --cloud-provider when that is an npm package; no other directory is searched. If empty, no npm package is loaded. A module that is given by path imports packages from its directory and those above it, but not from one such as /tmp.',
    },
    userAgent: {
      type: strings,
      default: [],
      usage:
        "Additional text for the User-Agent of requests to the cloud, before the provider's own, where the provider supports it.",
    },
    cloudCallLimits: {
      type: callLimits,
      default: [],
      usage:
        'Maximum requests per second to a cloud: <provider>=<qps> or <provider>=<qps>:<burst>; <provider>/<bucket>=… for one of the buckets of the provider, such as the services of OpenStack (compute, network, load-balancer). Where the provider has no limit either, requests slow down only after a 429.',
    },
    unmanagedNodes: {
      type: unmanagedNodes,
      default: VIRTUAL_KUBELETS.map(parseUnmanagedRule),
      usage:
        'Nodes without a machine in the cloud, which every controller leaves alone: label:<key>[=<value>], taint:<key>[=<value>] or provider-id:<beginning>, separated by commas. The first use replaces the default; empty: none.',
    },
    clusterName: {
      type: string,
      default: 'kubernetes',
      usage: 'Name of the cluster, used in the names of cloud resources.',
    },
    clusterCidr: {
      type: string,
      default: '',
      usage: 'CIDR range for pods, or one per IP family: a,b. Required for routes.',
    },
    allocateNodeCidrs: {
      type: bool,
      default: false,
      usage:
        'Whether pod CIDRs are allocated to nodes; required by node-ipam-controller. With routes, a new node is marked NetworkUnavailable until its routes are created.',
    },
    configureCloudRoutes: {
      type: bool,
      default: true,
      usage:
        'Whether routes to pod CIDRs are created in the cloud, if --cluster-cidr is set and the provider supports routes.',
    },
    controllers: {
      type: strings,
      default: ['*'],
      usage:
        "The controllers to run: '*' enables all that are on by default, 'foo' enables the controller foo, '-foo' disables it.",
    },
  },
};
