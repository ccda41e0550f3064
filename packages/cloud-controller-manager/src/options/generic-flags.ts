/** What upstream's programs have in common. */
import { bool, boolMap, duration, string, type FlagGroup } from '@outrigger/controller-manager';

export interface GenericOptions {
  config: string;
  featureGates: Readonly<Record<string, boolean>>;
  useServiceAccountCredentials: boolean;
  controllerStartInterval: number;
  minResyncPeriod: number;
  externalCloudVolumePlugin: string;
}

export const genericFlags: FlagGroup<GenericOptions> = {
  title: 'Generic',
  flags: {
    config: {
      type: string,
      default: '',
      usage:
        'File with a CloudControllerManagerConfiguration (cloudcontrollermanager.config.k8s.io/v1alpha1), in YAML or JSON, as /configz shows it. Flags override it.',
    },
    featureGates: {
      type: boolMap,
      default: {},
      usage: 'Feature gates to enable or disable; docs/reference/flags.md lists them.',
    },
    useServiceAccountCredentials: {
      type: bool,
      default: false,
      usage:
        'Each controller uses its own service account in kube-system (node-controller, service-controller, route-controller), with tokens that the program requests. Shared caches are still read with the credentials of the program.',
    },
    controllerStartInterval: {
      type: duration(),
      default: 0,
      compatibility: true,
      usage: 'Accepted for compatibility: controllers share their caches and all start at once.',
    },
    minResyncPeriod: {
      type: duration(),
      default: 43_200_000,
      compatibility: true,
      usage: 'Accepted for compatibility: watches are verified against the server, and there is no resync.',
    },
    externalCloudVolumePlugin: {
      type: string,
      default: '',
      compatibility: true,
      usage: 'Accepted for compatibility: volumes are attached by CSI drivers.',
    },
  },
};
