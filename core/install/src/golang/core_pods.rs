//! `k8s.io/api/core/v1`, v0.36: containers, pods and Services.
//!
//! Volumes have their own table.

use super::{
    core_volumes::{
        LOCAL_OBJECT_REFERENCE, OBJECT_FIELD_SELECTOR, RESOURCE_FIELD_SELECTOR, VOLUME,
    },
    meta::{LABEL_SELECTOR, OBJECT_META},
    table::go_structs,
};

go_structs! {
    CONTAINER_PORT {
        name: string, hostPort: int32, containerPort = int32, protocol: string, hostIP: string,
    }
    CONFIG_MAP_ENV_SOURCE { name: string, optional: *bool }
    SECRET_ENV_SOURCE { name: string, optional: *bool }
    ENV_FROM_SOURCE {
        prefix: string, configMapRef: *CONFIG_MAP_ENV_SOURCE, secretRef: *SECRET_ENV_SOURCE,
    }
    CONFIG_MAP_KEY_SELECTOR { name: string, key = string, optional: *bool }
    SECRET_KEY_SELECTOR { name: string, key = string, optional: *bool }
    FILE_KEY_SELECTOR { volumeName = string, path = string, key = string, optional: *bool }
    ENV_VAR_SOURCE {
        fieldRef: *OBJECT_FIELD_SELECTOR, resourceFieldRef: *RESOURCE_FIELD_SELECTOR,
        configMapKeyRef: *CONFIG_MAP_KEY_SELECTOR, secretKeyRef: *SECRET_KEY_SELECTOR,
        fileKeyRef: *FILE_KEY_SELECTOR,
    }
    ENV_VAR { name = string, value: string, valueFrom: *ENV_VAR_SOURCE }
    RESOURCE_CLAIM { name = string, request: string }
    RESOURCE_REQUIREMENTS { limits: {quantity}, requests: {quantity}, claims: [RESOURCE_CLAIM] }
    CONTAINER_RESIZE_POLICY { resourceName = string, restartPolicy = string }
    CONTAINER_RESTART_RULE_ON_EXIT_CODES { operator: string, values: [int32] }
    CONTAINER_RESTART_RULE { action: string, exitCodes: *CONTAINER_RESTART_RULE_ON_EXIT_CODES }
    VOLUME_MOUNT {
        name = string, readOnly: bool, recursiveReadOnly: *string, mountPath = string,
        subPath: string, mountPropagation: *string, subPathExpr: string,
    }
    VOLUME_DEVICE { name = string, devicePath = string }
    EXEC_ACTION { command: [string] }
    HTTP_HEADER { name = string, value = string }
    HTTP_GET_ACTION {
        path: string, port = port, host: string, scheme: string, httpHeaders: [HTTP_HEADER],
    }
    TCP_SOCKET_ACTION { port = port, host: string }
    GRPC_ACTION { port = int32, service = *string }
    PROBE {
        exec: *EXEC_ACTION, httpGet: *HTTP_GET_ACTION, tcpSocket: *TCP_SOCKET_ACTION,
        grpc: *GRPC_ACTION, initialDelaySeconds: int32, timeoutSeconds: int32, periodSeconds: int32,
        successThreshold: int32, failureThreshold: int32, terminationGracePeriodSeconds: *int64,
    }
    SLEEP_ACTION { seconds = int64 }
    LIFECYCLE_HANDLER {
        exec: *EXEC_ACTION, httpGet: *HTTP_GET_ACTION, tcpSocket: *TCP_SOCKET_ACTION,
        sleep: *SLEEP_ACTION,
    }
    LIFECYCLE { postStart: *LIFECYCLE_HANDLER, preStop: *LIFECYCLE_HANDLER, stopSignal: *string }
    CAPABILITIES { add: [string], drop: [string] }
    SE_LINUX_OPTIONS { user: string, role: string, type: string, level: string }
    WINDOWS_SECURITY_CONTEXT_OPTIONS {
        gmsaCredentialSpecName: *string, gmsaCredentialSpec: *string, runAsUserName: *string,
        hostProcess: *bool,
    }
    SECCOMP_PROFILE { type = string, localhostProfile: *string }
    APP_ARMOR_PROFILE { type = string, localhostProfile: *string }
    SECURITY_CONTEXT {
        capabilities: *CAPABILITIES, privileged: *bool, seLinuxOptions: *SE_LINUX_OPTIONS,
        windowsOptions: *WINDOWS_SECURITY_CONTEXT_OPTIONS, runAsUser: *int64, runAsGroup: *int64,
        runAsNonRoot: *bool, readOnlyRootFilesystem: *bool, allowPrivilegeEscalation: *bool,
        procMount: *string, seccompProfile: *SECCOMP_PROFILE, appArmorProfile: *APP_ARMOR_PROFILE,
    }
    CONTAINER {
        name = string, image: string, command: [string], args: [string], workingDir: string,
        ports: [CONTAINER_PORT], envFrom: [ENV_FROM_SOURCE], env: [ENV_VAR],
        resources: RESOURCE_REQUIREMENTS, resizePolicy: [CONTAINER_RESIZE_POLICY],
        restartPolicy: *string, restartPolicyRules: [CONTAINER_RESTART_RULE],
        volumeMounts: [VOLUME_MOUNT], volumeDevices: [VOLUME_DEVICE], livenessProbe: *PROBE,
        readinessProbe: *PROBE, startupProbe: *PROBE, lifecycle: *LIFECYCLE,
        terminationMessagePath: string, terminationMessagePolicy: string, imagePullPolicy: string,
        securityContext: *SECURITY_CONTEXT, stdin: bool, stdinOnce: bool, tty: bool,
    }
    EPHEMERAL_CONTAINER {
        name = string, image: string, command: [string], args: [string], workingDir: string,
        ports: [CONTAINER_PORT], envFrom: [ENV_FROM_SOURCE], env: [ENV_VAR],
        resources: RESOURCE_REQUIREMENTS, resizePolicy: [CONTAINER_RESIZE_POLICY],
        restartPolicy: *string, restartPolicyRules: [CONTAINER_RESTART_RULE],
        volumeMounts: [VOLUME_MOUNT], volumeDevices: [VOLUME_DEVICE], livenessProbe: *PROBE,
        readinessProbe: *PROBE, startupProbe: *PROBE, lifecycle: *LIFECYCLE,
        terminationMessagePath: string, terminationMessagePolicy: string, imagePullPolicy: string,
        securityContext: *SECURITY_CONTEXT, stdin: bool, stdinOnce: bool, tty: bool,
        targetContainerName: string,
    }
    SYSCTL { name = string, value = string }
    POD_SECURITY_CONTEXT {
        seLinuxOptions: *SE_LINUX_OPTIONS, windowsOptions: *WINDOWS_SECURITY_CONTEXT_OPTIONS,
        runAsUser: *int64, runAsGroup: *int64, runAsNonRoot: *bool, supplementalGroups: [int64],
        supplementalGroupsPolicy: *string, fsGroup: *int64, sysctls: [SYSCTL],
        fsGroupChangePolicy: *string, seccompProfile: *SECCOMP_PROFILE,
        appArmorProfile: *APP_ARMOR_PROFILE, seLinuxChangePolicy: *string,
    }
    NODE_SELECTOR_REQUIREMENT { key = string, operator = string, values: [string] }
    NODE_SELECTOR_TERM {
        matchExpressions: [NODE_SELECTOR_REQUIREMENT], matchFields: [NODE_SELECTOR_REQUIREMENT],
    }
    NODE_SELECTOR { nodeSelectorTerms = [NODE_SELECTOR_TERM] }
    PREFERRED_SCHEDULING_TERM { weight = int32, preference = NODE_SELECTOR_TERM }
    NODE_AFFINITY {
        requiredDuringSchedulingIgnoredDuringExecution: *NODE_SELECTOR,
        preferredDuringSchedulingIgnoredDuringExecution: [PREFERRED_SCHEDULING_TERM],
    }
    POD_AFFINITY_TERM {
        labelSelector: *LABEL_SELECTOR, namespaces: [string], topologyKey = string,
        namespaceSelector: *LABEL_SELECTOR, matchLabelKeys: [string], mismatchLabelKeys: [string],
    }
    WEIGHTED_POD_AFFINITY_TERM { weight = int32, podAffinityTerm = POD_AFFINITY_TERM }
    POD_AFFINITY {
        requiredDuringSchedulingIgnoredDuringExecution: [POD_AFFINITY_TERM],
        preferredDuringSchedulingIgnoredDuringExecution: [WEIGHTED_POD_AFFINITY_TERM],
    }
    POD_ANTI_AFFINITY {
        requiredDuringSchedulingIgnoredDuringExecution: [POD_AFFINITY_TERM],
        preferredDuringSchedulingIgnoredDuringExecution: [WEIGHTED_POD_AFFINITY_TERM],
    }
    AFFINITY {
        nodeAffinity: *NODE_AFFINITY, podAffinity: *POD_AFFINITY,
        podAntiAffinity: *POD_ANTI_AFFINITY,
    }
    TOLERATION {
        key: string, operator: string, value: string, effect: string, tolerationSeconds: *int64,
    }
    HOST_ALIAS { ip = string, hostnames: [string] }
    POD_DNS_CONFIG_OPTION { name: string, value: *string }
    POD_DNS_CONFIG { nameservers: [string], searches: [string], options: [POD_DNS_CONFIG_OPTION] }
    POD_READINESS_GATE { conditionType = string }
    TOPOLOGY_SPREAD_CONSTRAINT {
        maxSkew = int32, topologyKey = string, whenUnsatisfiable = string,
        labelSelector: *LABEL_SELECTOR, minDomains: *int32, nodeAffinityPolicy: *string,
        nodeTaintsPolicy: *string, matchLabelKeys: [string],
    }
    POD_OS { name = string }
    POD_SCHEDULING_GATE { name = string }
    POD_RESOURCE_CLAIM {
        name = string, resourceClaimName: *string, resourceClaimTemplateName: *string,
    }
    POD_SCHEDULING_GROUP { podGroupName: *string }
    POD_SPEC {
        volumes: [VOLUME], initContainers: [CONTAINER], containers = [CONTAINER],
        ephemeralContainers: [EPHEMERAL_CONTAINER], restartPolicy: string,
        terminationGracePeriodSeconds: *int64, activeDeadlineSeconds: *int64, dnsPolicy: string,
        nodeSelector: {string}, serviceAccountName: string, serviceAccount: string,
        automountServiceAccountToken: *bool, nodeName: string, hostNetwork: bool, hostPID: bool,
        hostIPC: bool, shareProcessNamespace: *bool, securityContext: *POD_SECURITY_CONTEXT,
        imagePullSecrets: [LOCAL_OBJECT_REFERENCE], hostname: string, subdomain: string,
        affinity: *AFFINITY, schedulerName: string, tolerations: [TOLERATION],
        hostAliases: [HOST_ALIAS], priorityClassName: string, priority: *int32,
        dnsConfig: *POD_DNS_CONFIG, readinessGates: [POD_READINESS_GATE], runtimeClassName: *string,
        enableServiceLinks: *bool, preemptionPolicy: *string, overhead: {quantity},
        topologySpreadConstraints: [TOPOLOGY_SPREAD_CONSTRAINT], setHostnameAsFQDN: *bool,
        os: *POD_OS, hostUsers: *bool, schedulingGates: [POD_SCHEDULING_GATE],
        resourceClaims: [POD_RESOURCE_CLAIM], resources: *RESOURCE_REQUIREMENTS,
        hostnameOverride: *string, schedulingGroup: *POD_SCHEDULING_GROUP,
    }
    POD_TEMPLATE_SPEC { metadata: OBJECT_META, spec: POD_SPEC }
    SERVICE_PORT {
        name: string, protocol: string, appProtocol: *string, port = int32, targetPort: port,
        nodePort: int32,
    }
    CLIENT_IP_CONFIG { timeoutSeconds: *int32 }
    SESSION_AFFINITY_CONFIG { clientIP: *CLIENT_IP_CONFIG }
    SERVICE_SPEC {
        ports: [SERVICE_PORT], selector: {string}, clusterIP: string, clusterIPs: [string],
        type: string, externalIPs: [string], sessionAffinity: string, loadBalancerIP: string,
        loadBalancerSourceRanges: [string], externalName: string, externalTrafficPolicy: string,
        healthCheckNodePort: int32, publishNotReadyAddresses: bool,
        sessionAffinityConfig: *SESSION_AFFINITY_CONFIG, ipFamilies: [string],
        ipFamilyPolicy: *string, allocateLoadBalancerNodePorts: *bool, loadBalancerClass: *string,
        internalTrafficPolicy: *string, trafficDistribution: *string,
    }
}
