/** What botocore's `service-2.json` says of an API, as far as it is used here. */
export interface ServiceModel {
  readonly metadata: {
    readonly apiVersion: string;
    readonly endpointPrefix: string;
    readonly protocol: string;
    readonly serviceId: string;
    readonly signingName?: string;
    readonly xmlNamespace: string;
  };
  readonly operations: Readonly<Record<string, Operation>>;
  readonly shapes: Readonly<Record<string, Shape>>;
}

export interface Operation {
  readonly name: string;
  readonly input?: ShapeReference;
  readonly output?: ShapeReference & { readonly resultWrapper?: string };
  readonly errors?: readonly ShapeReference[];
}

export interface ShapeReference {
  readonly shape: string;
  /** On the wire, of answers; of requests too, where there is no `queryName`. */
  readonly locationName?: string;
  /** On the wire, of requests of the protocol `ec2`. */
  readonly queryName?: string;
}

export interface Shape {
  readonly type:
    | 'structure'
    | 'list'
    | 'map'
    | 'string'
    | 'integer'
    | 'long'
    | 'double'
    | 'float'
    | 'boolean'
    | 'timestamp'
    | 'blob';
  readonly members?: Readonly<Record<string, ShapeReference>>;
  readonly required?: readonly string[];
  readonly member?: ShapeReference;
  readonly key?: ShapeReference;
  readonly value?: ShapeReference;
  readonly flattened?: boolean;
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly pattern?: string;
  readonly box?: boolean;
  readonly exception?: boolean;
  readonly error?: { readonly code?: string; readonly httpStatusCode?: number; readonly senderFault?: boolean };
}
