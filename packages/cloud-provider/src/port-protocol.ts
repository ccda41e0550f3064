/** The protocols of the ports of a Service. */
export type PortProtocol = 'TCP' | 'UDP' | 'SCTP';
