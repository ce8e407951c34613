// Names of entries in the metadata of providers' devices, of hardware and of compiled models.
#pragma once

static const char* const kOrtEpDevice_EpMetadataKey_Version = "version";
static const char* const kOrtEpDevice_EpMetadataKey_OSDriverVersion = "os_driver_version";
static const char* const kOrtEpDevice_EpMetadataKey_LibraryPath = "library_path";
static const char* const kOrtEpDevice_EpMetadataKey_WeightlessSupport = "weightless_support";
static const char* const kOrtEpDevice_EpMetadataKey_GqaPreferredValueLayout = "gqa_preferred_value_layout";
static const char* const kOrtHardwareDevice_MetadataKey_IsVirtual = "is_virtual";
static const char* const kOrtModelMetadata_EpCompatibilityInfoPrefix = "ep_compatibility_info.";
static const char* const kOrtModelMetadata_WeightlessMode = "weightless_mode";
