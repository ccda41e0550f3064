# Outrigger's entry points. Node, npm and make are all that must be there; every target sets up what it needs.
SHELL := /bin/sh
.DEFAULT_GOAL := help
ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
MACHINE_PATH := $(PATH)
# The pinned Node of the repository goes before the machine's own, which only bootstraps npm.
export PATH := $(ROOT)/node_modules/.bin:$(PATH)

# ONCE=1: make run ends when all has converged. CONTROL_PLANE=real: etcd and kube-apiserver instead of the embedded server.
# CLOUD_PROVIDER, CLOUD_CONFIG, NODES: make run with a cloud of your own and machines in it.
# KUBERNETES=1.34: the Kubernetes release of the real control plane.
export ONCE CONTROL_PLANE CLOUD_PROVIDER CLOUD_CONFIG NODES KUBERNETES UPDATE MINUTES SEED TARGET INTO TEST_TIMES

SETUP := node_modules/.outrigger-setup

# Not `npm ci`: it refuses a lock file that lacks an optional package of another platform, which a partial mirror of the
# registry cannot provide. `--no-save` keeps to the lock file just as well, and writes neither it nor package.json.
$(SETUP): package.json package-lock.json $(wildcard packages/*/package.json providers/*/package.json)
	@node scripts/check-bootstrap.cjs
	@echo 'installing the dependencies'
	@npm install --no-save --no-audit --no-fund --loglevel=error
	@PATH='$(MACHINE_PATH)' node scripts/pinned-node.cjs
	@touch $@

.PHONY: help
help: ## List the targets
	@awk 'BEGIN {FS = ":.*## "} /^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(ROOT)/Makefile

.PHONY: setup
setup: $(SETUP) ## Install the dependencies, the pinned Node among them

.PHONY: run
run: $(SETUP) ## Start a small cluster and a cloud; watch nodes join, a Service get its address, a node leave (ONCE=1, CONTROL_PLANE=real; CLOUD_PROVIDER=./p.ts CLOUD_CONFIG=f NODES=a,b: your cloud)
	@node $(if $(CLOUD_PROVIDER),scripts/run-own-cloud.ts,scripts/run.ts)

.PHONY: test
test: $(SETUP) ## Run every check and test (KUBERNETES=1.34 for another release of the real control plane, TEST_TIMES=1 for the time of each file)
	@node scripts/test.ts

.PHONY: unit
unit: $(SETUP) ## Run the unit tests only: three minutes
	@node scripts/test.ts unit

.PHONY: properties
properties: $(SETUP) ## Run the property tests with new seeds (ROUNDS=n times)
	@node scripts/test.ts properties

.PHONY: fuzz
fuzz: $(SETUP) ## Look for text of tenants, nodes and clouds that costs more than its size (MINUTES=n of processor time, SEED=n TARGET=words)
	@node e2e/fuzz/run.ts

.PHONY: lint
lint: $(SETUP) ## Run the linter, the formatter's check, the type-check and the dead-code check
	@node scripts/test.ts lint format types knip

.PHONY: format
format: $(SETUP) ## Format the sources
	@oxfmt

.PHONY: build
build: $(SETUP) ## Bundle the program into dist/ and write bin/cloud-controller-manager and bin/outrigger
	@node scripts/build.ts

.PHONY: packages
packages: $(SETUP) ## Compile the packages and make their tarballs in dist/packages
	@node scripts/packages.ts

.PHONY: image
image: $(SETUP) ## Make the container image, its root file system and its bill of materials in dist/image/, without Docker
	@node scripts/image.ts

.PHONY: release
release: $(SETUP) ## Make a release in dist/release: VERSION=1.2.3, SIGNING_KEY=file signs it, RELEASE_URL=https://… for Krew, PUBLISH=1 checks that it may go out
	@node scripts/release.ts

.PHONY: advisories
advisories: $(SETUP) ## Ask the registry for known vulnerabilities of the dependencies, and whether it has signed what is installed
	@node scripts/advisories.ts
	@node scripts/signatures.ts

.PHONY: control-plane
control-plane: $(SETUP) ## Find, download or build etcd and kube-apiserver, and print where they are
	@node scripts/control-plane.ts path

.PHONY: bench
bench: $(SETUP) ## Measure node initialisation against the floor and upstream's framework (SCENARIO=services,routes or all: other situations; SCENARIO=start-up; SCENARIO=provider-file: a provider in TypeScript; SCENARIO=vsphere or aws: beside the official provider)
	@node $(if $(filter start-up provider-file vsphere aws,$(SCENARIO)),bench/$(SCENARIO).ts,$(if $(SCENARIO),bench/scenarios.ts --scenario=$(SCENARIO),bench/node-initialisation.ts))

.PHONY: crowd
crowd: $(SETUP) ## 200 Services and 1,000 nodes come and go at once, with kube-controller-manager (SERVICES=n NODES=n)
	@SERVICES=$(or $(SERVICES),200) NODES=$(or $(NODES),1000) node --test e2e/whole-cluster.control-plane.test.ts

.PHONY: chaos
chaos: $(SETUP) ## Kill, cut and restart things while nodes and services come, change and go (PART=nodes,services,faults,tenant ROUNDS=n; PART=openstack as root)
	@node e2e/chaos.ts

.PHONY: e2e-openstack
e2e-openstack: $(SETUP) ## Run the program against a real OpenStack on 127.0.0.1, which it brings up and ends; needs root and Debian archives
	@node e2e/openstack/run.ts $(TESTS)

.PHONY: e2e-vsphere
e2e-vsphere: $(SETUP) ## Run the vSphere provider against govmomi's simulator of vCenter on 127.0.0.1, on a real control plane, and migrations from two others; builds them once
	@node scripts/test/build-programs.ts simulator vsphere-official vsphere-in-tree
	@node scripts/test.ts vsphere

.PHONY: e2e-aws
e2e-aws: $(SETUP) ## Run the AWS provider against moto and its fake on 127.0.0.1, on a real control plane, and migrations from two others; installs moto once, by pip, and builds them once
	@node scripts/test/build-programs.ts aws-official aws-in-tree
	@node scripts/test.ts aws

.PHONY: judges
judges: $(SETUP) ## Have real kubelets, upstream's own specs, promtool, kubeadm, moto, a registry and Chromium judge the programs, in a network namespace; builds them once (TESTS=kubelets: some)
	@node e2e/judges/run.ts $(TESTS)

.PHONY: chart
chart: $(SETUP) ## Lint the Helm chart and compare what it renders with its snapshots (UPDATE=1 writes them); builds Helm once
	@node scripts/helm-chart.ts

.PHONY: site
site: $(SETUP) ## Build the documentation as a web site in site/.vitepress/dist, with offline search (INTO=folder adds it to a folder of versions)
	@node scripts/site.ts

.PHONY: generate
generate: $(SETUP) ## Write the generated types and pages anew
	@node scripts/generate.ts

.PHONY: clean
clean: ## Remove what was built
	@rm -rf dist coverage .outrigger

.PHONY: image-credentials
image-credentials: $(SETUP) ## Make the kubelet's image credential provider in dist/image-credentials: script, executable, image of its installer, bill of materials
	@node scripts/image-credentials.ts
