/** Of the cloud in memory, the provider alone: imported as a whole, the cloud that is served to tests would come along. */
export { default } from '@outrigger/provider-memory';
