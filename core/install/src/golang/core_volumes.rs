//! `k8s.io/api/core/v1`, v0.36: volumes and what they are filled from.
//!
//! Containers and pods, which use them, have their own table.

use super::{
    meta::{LABEL_SELECTOR, OBJECT_META},
    table::go_structs,
};

go_structs! {
    HOST_PATH_VOLUME_SOURCE { path = string, type: *string }
    EMPTY_DIR_VOLUME_SOURCE { medium: string, sizeLimit: *quantity }
    GCE_PERSISTENT_DISK_VOLUME_SOURCE {
        pdName = string, fsType: string, partition: int32, readOnly: bool,
    }
    AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE {
        volumeID = string, fsType: string, partition: int32, readOnly: bool,
    }
    GIT_REPO_VOLUME_SOURCE { repository = string, revision: string, directory: string }
    KEY_TO_PATH { key = string, path = string, mode: *int32 }
    SECRET_VOLUME_SOURCE {
        secretName: string, items: [KEY_TO_PATH], defaultMode: *int32, optional: *bool,
    }
    NFS_VOLUME_SOURCE { server = string, path = string, readOnly: bool }
    LOCAL_OBJECT_REFERENCE { name: string }
    ISCSI_VOLUME_SOURCE {
        targetPortal = string, iqn = string, lun = int32, iscsiInterface: string, fsType: string,
        readOnly: bool, portals: [string], chapAuthDiscovery: bool, chapAuthSession: bool,
        secretRef: *LOCAL_OBJECT_REFERENCE, initiatorName: *string,
    }
    GLUSTERFS_VOLUME_SOURCE { endpoints = string, path = string, readOnly: bool }
    PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE { claimName = string, readOnly: bool }
    RBD_VOLUME_SOURCE {
        monitors = [string], image = string, fsType: string, pool: string, user: string,
        keyring: string, secretRef: *LOCAL_OBJECT_REFERENCE, readOnly: bool,
    }
    FLEX_VOLUME_SOURCE {
        driver = string, fsType: string, secretRef: *LOCAL_OBJECT_REFERENCE, readOnly: bool,
        options: {string},
    }
    CINDER_VOLUME_SOURCE {
        volumeID = string, fsType: string, readOnly: bool, secretRef: *LOCAL_OBJECT_REFERENCE,
    }
    CEPH_FS_VOLUME_SOURCE {
        monitors = [string], path: string, user: string, secretFile: string,
        secretRef: *LOCAL_OBJECT_REFERENCE, readOnly: bool,
    }
    FLOCKER_VOLUME_SOURCE { datasetName: string, datasetUUID: string }
    OBJECT_FIELD_SELECTOR { apiVersion: string, fieldPath = string }
    RESOURCE_FIELD_SELECTOR { containerName: string, resource = string, divisor: quantity }
    DOWNWARD_API_VOLUME_FILE {
        path = string, fieldRef: *OBJECT_FIELD_SELECTOR, resourceFieldRef: *RESOURCE_FIELD_SELECTOR,
        mode: *int32,
    }
    DOWNWARD_API_VOLUME_SOURCE { items: [DOWNWARD_API_VOLUME_FILE], defaultMode: *int32 }
    FC_VOLUME_SOURCE {
        targetWWNs: [string], lun: *int32, fsType: string, readOnly: bool, wwids: [string],
    }
    AZURE_FILE_VOLUME_SOURCE { secretName = string, shareName = string, readOnly: bool }
    CONFIG_MAP_VOLUME_SOURCE {
        name: string, items: [KEY_TO_PATH], defaultMode: *int32, optional: *bool,
    }
    VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE {
        volumePath = string, fsType: string, storagePolicyName: string, storagePolicyID: string,
    }
    QUOBYTE_VOLUME_SOURCE {
        registry = string, volume = string, readOnly: bool, user: string, group: string,
        tenant: string,
    }
    AZURE_DISK_VOLUME_SOURCE {
        diskName = string, diskURI = string, cachingMode: *string, fsType: *string, readOnly: *bool,
        kind: *string,
    }
    PHOTON_PERSISTENT_DISK_VOLUME_SOURCE { pdID = string, fsType: string }
    SECRET_PROJECTION { name: string, items: [KEY_TO_PATH], optional: *bool }
    DOWNWARD_API_PROJECTION { items: [DOWNWARD_API_VOLUME_FILE] }
    CONFIG_MAP_PROJECTION { name: string, items: [KEY_TO_PATH], optional: *bool }
    SERVICE_ACCOUNT_TOKEN_PROJECTION { audience: string, expirationSeconds: *int64, path = string }
    CLUSTER_TRUST_BUNDLE_PROJECTION {
        name: *string, signerName: *string, labelSelector: *LABEL_SELECTOR, optional: *bool,
        path = string,
    }
    POD_CERTIFICATE_PROJECTION {
        signerName: string, keyType: string, maxExpirationSeconds: *int32,
        credentialBundlePath: string, keyPath: string, certificateChainPath: string,
        userAnnotations: {string},
    }
    VOLUME_PROJECTION {
        secret: *SECRET_PROJECTION, downwardAPI: *DOWNWARD_API_PROJECTION,
        configMap: *CONFIG_MAP_PROJECTION, serviceAccountToken: *SERVICE_ACCOUNT_TOKEN_PROJECTION,
        clusterTrustBundle: *CLUSTER_TRUST_BUNDLE_PROJECTION,
        podCertificate: *POD_CERTIFICATE_PROJECTION,
    }
    PROJECTED_VOLUME_SOURCE { sources = [VOLUME_PROJECTION], defaultMode: *int32 }
    PORTWORX_VOLUME_SOURCE { volumeID = string, fsType: string, readOnly: bool }
    SCALE_IO_VOLUME_SOURCE {
        gateway = string, system = string, secretRef = *LOCAL_OBJECT_REFERENCE, sslEnabled: bool,
        protectionDomain: string, storagePool: string, storageMode: string, volumeName: string,
        fsType: string, readOnly: bool,
    }
    STORAGE_OS_VOLUME_SOURCE {
        volumeName: string, volumeNamespace: string, fsType: string, readOnly: bool,
        secretRef: *LOCAL_OBJECT_REFERENCE,
    }
    CSI_VOLUME_SOURCE {
        driver = string, readOnly: *bool, fsType: *string, volumeAttributes: {string},
        nodePublishSecretRef: *LOCAL_OBJECT_REFERENCE,
    }
    VOLUME_RESOURCE_REQUIREMENTS { limits: {quantity}, requests: {quantity} }
    TYPED_LOCAL_OBJECT_REFERENCE { apiGroup = *string, kind = string, name = string }
    TYPED_OBJECT_REFERENCE { apiGroup = *string, kind = string, name = string, namespace: *string }
    PERSISTENT_VOLUME_CLAIM_SPEC {
        accessModes: [string], selector: *LABEL_SELECTOR, resources: VOLUME_RESOURCE_REQUIREMENTS,
        volumeName: string, storageClassName: *string, volumeMode: *string,
        dataSource: *TYPED_LOCAL_OBJECT_REFERENCE, dataSourceRef: *TYPED_OBJECT_REFERENCE,
        volumeAttributesClassName: *string,
    }
    PERSISTENT_VOLUME_CLAIM_TEMPLATE { metadata: OBJECT_META, spec = PERSISTENT_VOLUME_CLAIM_SPEC }
    EPHEMERAL_VOLUME_SOURCE { volumeClaimTemplate: *PERSISTENT_VOLUME_CLAIM_TEMPLATE }
    IMAGE_VOLUME_SOURCE { reference: string, pullPolicy: string }
    VOLUME {
        name = string, hostPath: *HOST_PATH_VOLUME_SOURCE, emptyDir: *EMPTY_DIR_VOLUME_SOURCE,
        gcePersistentDisk: *GCE_PERSISTENT_DISK_VOLUME_SOURCE,
        awsElasticBlockStore: *AWS_ELASTIC_BLOCK_STORE_VOLUME_SOURCE,
        gitRepo: *GIT_REPO_VOLUME_SOURCE, secret: *SECRET_VOLUME_SOURCE, nfs: *NFS_VOLUME_SOURCE,
        iscsi: *ISCSI_VOLUME_SOURCE, glusterfs: *GLUSTERFS_VOLUME_SOURCE,
        persistentVolumeClaim: *PERSISTENT_VOLUME_CLAIM_VOLUME_SOURCE, rbd: *RBD_VOLUME_SOURCE,
        flexVolume: *FLEX_VOLUME_SOURCE, cinder: *CINDER_VOLUME_SOURCE,
        cephfs: *CEPH_FS_VOLUME_SOURCE, flocker: *FLOCKER_VOLUME_SOURCE,
        downwardAPI: *DOWNWARD_API_VOLUME_SOURCE, fc: *FC_VOLUME_SOURCE,
        azureFile: *AZURE_FILE_VOLUME_SOURCE, configMap: *CONFIG_MAP_VOLUME_SOURCE,
        vsphereVolume: *VSPHERE_VIRTUAL_DISK_VOLUME_SOURCE, quobyte: *QUOBYTE_VOLUME_SOURCE,
        azureDisk: *AZURE_DISK_VOLUME_SOURCE,
        photonPersistentDisk: *PHOTON_PERSISTENT_DISK_VOLUME_SOURCE,
        projected: *PROJECTED_VOLUME_SOURCE, portworxVolume: *PORTWORX_VOLUME_SOURCE,
        scaleIO: *SCALE_IO_VOLUME_SOURCE, storageos: *STORAGE_OS_VOLUME_SOURCE,
        csi: *CSI_VOLUME_SOURCE, ephemeral: *EPHEMERAL_VOLUME_SOURCE, image: *IMAGE_VOLUME_SOURCE,
    }
}
