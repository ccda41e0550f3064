/** A Service as tests have it: one TCP port, no annotations. */
import type { LoadBalancerService } from '@outrigger/cloud-provider';
import { annotationRows, type AnnotationKey } from './annotation-rows.ts';

type Given = Partial<Omit<LoadBalancerService, 'annotations'>> & {
  /** By key of the table. */
  readonly set?: Readonly<Partial<Record<AnnotationKey, string>>>;
  /** By name. */
  readonly annotations?: Readonly<Record<string, string>>;
};

export function aService({ set = {}, annotations = {}, ...given }: Given = {}): LoadBalancerService {
  const named = Object.entries(set).map(([key, value]) => [annotationRows[key as AnnotationKey].name, value]);
  return {
    uid: '0a1b2c3d-0000-4000-8000-00000000000e',
    namespace: 'shop',
    name: 'web',
    labels: {},
    ports: [{ name: 'http', port: 80, protocol: 'TCP', nodePort: 30_080 }],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    externalTrafficPolicy: 'Cluster',
    sourceRanges: [],
    ingress: [],
    ...given,
    annotations: { ...annotations, ...Object.fromEntries(named) },
  };
}
