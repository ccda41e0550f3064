/** The operating system in an instance type, by the guest ID of the machine. */
import type { VirtualMachine } from '../inventory/virtual-machine.ts';

/** `<word>=<guest IDs>`. Source: `GuestOSLookup` (pkg/cloudprovider/vsphere/types.go). */
const GUESTS = `
asianux3=asianux3_64Guest,asianux3Guest asianux4=asianux4_64Guest,asianux4Guest asianux5=asianux5_64Guest asianux7=asianux7_64Guest
centos6=centos6_64Guest,centos6Guest centos64=centos64Guest centos7=centos7_64Guest,centos7Guest centos=centosGuest coreos=coreos64Guest
darwin=darwin10_64Guest,darwin10Guest,darwin11_64Guest,darwin11Guest,darwin12_64Guest,darwin13_64Guest,darwin14_64Guest,darwin15_64Guest,darwin16_64Guest,darwin64Guest,darwinGuest
debian10=debian10_64Guest,debian10Guest debian4=debian4_64Guest,debian4Guest debian5=debian5_64Guest,debian5Guest
debian6=debian6_64Guest,debian6Guest debian7=debian7_64Guest,debian7Guest debian8=debian8_64Guest,debian8Guest
debian9=debian9_64Guest,debian9Guest dos=dosGuest eComStation2=eComStation2Guest eComStation=eComStationGuest
fedora=fedora64Guest,fedoraGuest freebsd=freebsd64Guest,freebsdGuest
linux=genericLinuxGuest,other24xLinux64Guest,other24xLinuxGuest,other26xLinux64Guest,other26xLinuxGuest,other3xLinux64Guest,other3xLinuxGuest,otherLinux64Guest,otherLinuxGuest
mandrake=mandrakeGuest mandriva=mandriva64Guest,mandrivaGuest netware4=netware4Guest netware5=netware5Guest netware6=netware6Guest
nld9=nld9Guest oes=oesGuest openServer5=openServer5Guest openServer6=openServer6Guest opensuse=opensuse64Guest,opensuseGuest
oracleLinux6=oracleLinux6_64Guest,oracleLinux6Guest oracleLinux=oracleLinux64Guest,oracleLinuxGuest
oracleLinux7=oracleLinux7_64Guest,oracleLinux7Guest os2=os2Guest other=otherGuest,otherGuest64 rhel=redhatGuest rhel2=rhel2Guest
rhel3=rhel3_64Guest,rhel3Guest rhel4=rhel4_64Guest,rhel4Guest rhel5=rhel5_64Guest,rhel5Guest rhel6=rhel6_64Guest,rhel6Guest
rhel7=rhel7_64Guest,rhel7Guest rhel8=rhel8_64Guest rhel9=rhel9_64Guest rhel10=rhel10_64Guest sjds=sjdsGuest
sles10=sles10_64Guest,sles10Guest sles11=sles11_64Guest,sles11Guest sles12=sles12_64Guest,sles12Guest sles64=sles64Guest sles=slesGuest
solaris10=solaris10_64Guest,solaris10Guest solaris11=solaris11_64Guest solaris6=solaris6Guest solaris7=solaris7Guest
solaris8=solaris8Guest solaris9=solaris9Guest suse=suse64Guest,suseGuest turbolinux=turboLinux64Guest,turboLinuxGuest
ubuntu=ubuntu64Guest,ubuntuGuest unixware7=unixWare7Guest vmkernel5=vmkernel5Guest vmkernel65=vmkernel65Guest vmkernel6=vmkernel6Guest
vmkernel=vmkernelGuest photon=vmwarePhoton64Guest win2000advserv=win2000AdvServGuest win2000pro=win2000ProGuest
win2000serv=win2000ServGuest win31=win31Guest win95=win95Guest win98=win98Guest win7=windows7_64Guest,windows7Guest
win7server=windows7Server64Guest win8=windows8_64Guest,windows8Guest win8server=windows8Server64Guest
win10=windows9_64Guest,windows9Guest win10server=windows9Server64Guest windowshyperv=windowsHyperVGuest
winlonghorn=winLonghorn64Guest,winLonghornGuest winme=winMeGuest winnetbusiness=winNetBusinessGuest
winnetdatacenter=winNetDatacenter64Guest,winNetDatacenterGuest winnetenterprise=winNetEnterprise64Guest,winNetEnterpriseGuest
winnetstandard=winNetStandard64Guest,winNetStandardGuest winnetweb=winNetWebGuest winnt=winNTGuest
winvista=winVista64Guest,winVistaGuest winxphome=winXPHomeGuest winxppro=winXPPro64Guest,winXPProGuest
`;

const BY_ID: ReadonlyMap<string, string> = new Map(
  GUESTS.trim()
    .split(/\s+/u)
    .flatMap((row) => {
      const [name = '', ids = ''] = row.split('=');
      return ids.split(',').map((id): [string, string] => [id, name]);
    }),
);

/** `vsphere-vm.cpu-4.mem-16gb.os-ubuntu`: whole GiB, and `unknown` for a guest that upstream has no word for. */
export function instanceTypeOf({
  cpus = 0,
  guestId = '',
  memoryMB = 0,
}: Pick<VirtualMachine, 'cpus' | 'guestId' | 'memoryMB'>): string {
  return `vsphere-vm.cpu-${cpus}.mem-${Math.trunc(memoryMB / 1024)}gb.os-${BY_ID.get(guestId) ?? 'unknown'}`;
}
